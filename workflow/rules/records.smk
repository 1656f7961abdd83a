# Training records go to the private zone, evaluation problems to the public one.


rule records:
    input:
        source=benchmark_source,
    output:
        f"{PRIVATE}/records/{{benchmark}}/train.jsonl",
    log:
        f"{PRIVATE}/logs/records/{{benchmark}}.log",
    conda:
        "../../envs/train.yaml"
    params:
        study=STUDY_FILE,
        settings=records_params,
        code=code_digest("promptdp.records.loaders"),
    shell:
        "promptdp records --study {params.study} --benchmark {wildcards.benchmark} --out {output} 2> {log}"


rule records_eval:
    input:
        source=evalset_source,
        gates=records_eval_gates,
    output:
        records=f"{RESULTS}/records/{{evalset}}/eval.jsonl",
        split=f"{RESULTS}/records/{{evalset}}/split.json",
    log:
        f"{RESULTS}/logs/records_eval/{{evalset}}.log",
    conda:
        "../../envs/train.yaml"
    params:
        study=STUDY_FILE,
        settings=evalset_params,
        code=code_digest("promptdp.records.loaders"),
    shell:
        "promptdp records --study {params.study} --evaluation-set {wildcards.evalset}"
        " --out {output.records} --split-out {output.split} 2> {log}"
