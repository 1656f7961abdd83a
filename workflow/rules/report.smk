# Tables and figures, one target each, and the list of every complete execution.
localrules:
    tables,
    figures,
    all,


rule table:
    input:
        table_inputs,
    output:
        multiext(f"{RESULTS}/tables/table{{number}}", ".csv", ".md", ".tex", ".json"),
    log:
        f"{RESULTS}/logs/table/table{{number}}.log",
    conda:
        "../../envs/train.yaml"
    params:
        study=STUDY_FILE,
        stem=stem,
        settings=reporting_params,
        code=code_digest("promptdp.reporting.tables"),
    shell:
        "promptdp table {wildcards.number} --study {params.study} --inputs {input} --stem {params.stem} 2> {log}"


rule checks:
    input:
        checks_inputs(),
    output:
        multiext(f"{RESULTS}/tables/checks", ".csv", ".md", ".tex", ".json"),
    log:
        f"{RESULTS}/logs/table/checks.log",
    conda:
        "../../envs/train.yaml"
    params:
        study=STUDY_FILE,
        stem=stem,
        settings=reporting_params,
        code=code_digest("promptdp.reporting.tables"),
    shell:
        "promptdp checks --study {params.study} --inputs {input} --stem {params.stem} 2> {log}"


rule figure:
    input:
        figure_inputs,
    output:
        multiext(f"{RESULTS}/figures/fig{{number}}", ".pdf", ".png", ".svg", ".csv", ".json"),
    log:
        f"{RESULTS}/logs/figure/fig{{number}}.log",
    wildcard_constraints:
        number="|".join(map(str, STUDY.figures)) or "none",
    conda:
        "../../envs/train.yaml"
    params:
        study=STUDY_FILE,
        stem=stem,
        settings=figure_params,
        code=figure_code,
    shell:
        "promptdp figure {wildcards.number} --study {params.study} --inputs {input} --stem {params.stem} 2> {log}"


rule executions:
    input:
        runs=all_runs(),
        contrasts=all_contrasts(),
    output:
        multiext(f"{RESULTS}/tables/executions", ".csv", ".md", ".json"),
    log:
        f"{RESULTS}/logs/executions.log",
    conda:
        "../../envs/train.yaml"
    params:
        study=STUDY_FILE,
        stores=EXECUTIONS,
        stem=stem,
        code=code_digest("promptdp.reporting.executions"),
    shell:
        "promptdp executions --study {params.study} --inputs {input.runs} {input.contrasts}"
        " --stores {params.stores} --stem {params.stem} 2> {log}"


rule tables:
    input:
        expand(f"{RESULTS}/tables/table{{number}}.md", number=STUDY.tables),
        f"{RESULTS}/tables/checks.md",
        f"{RESULTS}/tables/executions.md",
        table_pages(),


rule figures:
    input:
        expand(f"{RESULTS}/figures/fig{{number}}.pdf", number=STUDY.figures),
        figure_pages(),
