# The noise multiplier of every mechanism of the study, and what all runs on the same slots cost together, those
# of other executions included; an error about these may name a private folder, hence the place of its log.


rule calibrate:
    output:
        f"{RESULTS}/calibration/{{mechanism}}.json",
    log:
        f"{RESULTS}/logs/calibrate/{{mechanism}}.log",
    conda:
        "../../envs/train.yaml"
    params:
        verb=mechanism_verb,
        code=code_digest("promptdp.privacy.accounting"),
    shell:
        "promptdp {params.verb} --out {output} 2> {log}"


rule compose:
    input:
        benchmark_runs,
    output:
        f"{RESULTS}/calibration/composed-{{benchmark}}.json",
    log:
        f"{PRIVATE}/logs/compose/{{benchmark}}.log",
    conda:
        "../../envs/train.yaml"
    params:
        study=STUDY_FILE,
        register=register_option(),
        code=code_digest("promptdp.assurance.composition"),
    shell:
        "promptdp compose --study {params.study} --benchmark {wildcards.benchmark}"
        " --runs {input} {params.register} --out {output} 2> {log}"
