# One greedy completion per evaluation problem, saved once; scorers read the saved text and never generate.


rule predict:
    input:
        records=f"{RESULTS}/records/{{evalset}}/eval.jsonl",
        base=f"{RESULTS}/base.json",
        model=f"{RESULTS}/base/model.safetensors",
        adapter=adapter,
        gates=predict_gates,
    output:
        predictions=f"{RESULTS}/predictions/{{evalset}}/{{arm}}/seed{{seed}}.jsonl.gz",
        manifest=f"{RESULTS}/predictions/{{evalset}}/{{arm}}/seed{{seed}}.manifest.json",
    log:
        f"{RESULTS}/logs/predict/{{evalset}}/{{arm}}/seed{{seed}}.log",
    conda:
        "../../envs/train.yaml"
    threads: 1
    params:
        study=STUDY_FILE,
        base=folder_of_base,
        adapter=adapter_option,
        settings=evalset_cap,
        code=code_digest("promptdp.evaluation.predict"),
    shell:
        "promptdp predict --study {params.study} --evaluation-set {wildcards.evalset} --arm {wildcards.arm}"
        " --seed {wildcards.seed} --records {input.records} --base {params.base} {params.adapter}"
        " --out {output.predictions} --manifest {output.manifest} 2> {log}"


rule score:
    input:
        predictions=f"{RESULTS}/predictions/{{evalset}}/{{arm}}/seed{{seed}}.jsonl.gz",
        manifest=f"{RESULTS}/predictions/{{evalset}}/{{arm}}/seed{{seed}}.manifest.json",
        records=f"{RESULTS}/records/{{evalset}}/eval.jsonl",
        lock=repo("config/frozen/{scorer}.sha256"),
        gates=score_gates,
    output:
        f"{RESULTS}/scores/{{evalset}}/{{scorer}}/{{arm}}/seed{{seed}}.parquet",
    log:
        f"{RESULTS}/logs/score/{{evalset}}/{{scorer}}/{{arm}}/seed{{seed}}.log",
    conda:
        "../../envs/train.yaml"
    params:
        code=code_digest("promptdp.evaluation.rescore"),
        scorer=scorer_digest,
    shell:
        "promptdp score-run {wildcards.scorer} --predictions {input.predictions}"
        " --records {input.records} --lock {input.lock} --out {output} 2> {log}"
