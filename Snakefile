# The whole workflow at a glance. One study per invocation, chosen by `study` in config/config.yaml or by
# `--config study=NAME`; everything it makes stands in results/NAME, what may not be seen in private/NAME.
#
#   snakemake --cores all tables                            every table of the study
#   snakemake --cores all figures                           every figure
#   snakemake --cores 1 results/micro/figures/fig2.pdf      one figure
#   snakemake --cores 1 verify                              what the proof assumes, measured on the code
#   snakemake --cores 1 scorer_audit                        what other software says about the scores
#   snakemake --cores all tables --config source=recorded   the recorded run's tables, without training
#   snakemake --cores 1 compare_published                   the paper's values, checked without a GPU
#   snakemake --cores all release                           the folder of every private run that may be published
#   snakemake --cores all pages                             what the report shows; then pages --report report.html

from snakemake.utils import min_version

min_version("9.20")


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


# The road, in its order.
include: "workflow/rules/common.smk"
include: "workflow/rules/protocol.smk"
include: "workflow/rules/records.smk"
include: "workflow/rules/base.smk"
include: "workflow/rules/calibrate.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/verify.smk"
include: "workflow/rules/assurance.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/evidence.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/published.smk"
include: "workflow/rules/pages.smk"


onstart:
    close_private_zone()


onsuccess:
    forget_private_facts()


onerror:
    forget_private_facts()


rule all:
    default_target: True
    input:
        rules.tables.input,
        rules.figures.input,
        decision_pages(),
