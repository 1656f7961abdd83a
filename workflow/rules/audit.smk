# Other software is asked about every score of the study, each distinct question once; it changes none.


rule scorer_audit:
    input:
        scores=all_scores(),
        predictions=all_predictions(),
        records=expand(f"{RESULTS}/records/{{evalset}}/eval.jsonl", evalset=STUDY.evaluation_sets),
    output:
        record=f"{RESULTS}/assurance/scorer_audit.json",
        page=f"{RESULTS}/assurance/scorer_audit.md",
    log:
        f"{RESULTS}/logs/scorer_audit.log",
    conda:
        "../../envs/train.yaml"
    threads: 1
    params:
        study=STUDY_FILE,
        scorers=[digest(scorer) for scorer in STUDY.scorers()],
        code=code_digest("promptdp.assurance.scorer_audit.audit"),
    shell:
        "promptdp scorer-audit --study {params.study} --scores {input.scores}"
        " --predictions {input.predictions} --records {input.records}"
        " --out {output.record} --page {output.page} 2> {log}"
