# Paired contrasts with intervals and tests; the files of a Holm family are read together.
rule contrast:
    input:
        scores=contrast_scores,
    output:
        f"{RESULTS}/contrasts/{{evalset}}/{{scorer}}/{{contrast}}.json",
    log:
        f"{RESULTS}/logs/contrast/{{evalset}}/{{scorer}}/{{contrast}}.log",
    conda:
        "../../envs/train.yaml"
    params:
        study=STUDY_FILE,
        family=contrast_params,
        code=code_digest("promptdp.reporting.evidence"),
    shell:
        "promptdp contrast-run --study {params.study} --evaluation-set {wildcards.evalset}"
        " --scorer {wildcards.scorer} --name {wildcards.contrast} --scores {input.scores} --out {output} 2> {log}"
