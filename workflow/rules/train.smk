# One arm with one seed. Its recovery state is named in params and never an output, since Snakemake deletes the
# outputs of a killed job: a killed run goes on from its last committed round. No `benchmark:` here, and the log
# lies in the private zone, since this rule reads private records.
rule train:
    input:
        records=f"{PRIVATE}/records/{{benchmark}}/train.jsonl",
        base=f"{RESULTS}/base.json",
        model=f"{RESULTS}/base/model.safetensors",
        calibration=run_calibration,
        lock=run_lock,
        gates=train_gates,
    output:
        adapter=f"{RESULTS}/runs/{{benchmark}}/{{arm}}/seed{{seed}}/adapter/adapter_model.safetensors",
        config=f"{RESULTS}/runs/{{benchmark}}/{{arm}}/seed{{seed}}/adapter/adapter_config.json",
        manifest=f"{RESULTS}/runs/{{benchmark}}/{{arm}}/seed{{seed}}/run.json",
        ledger=f"{RESULTS}/runs/{{benchmark}}/{{arm}}/seed{{seed}}/ledger.jsonl",
    log:
        f"{PRIVATE}/logs/train/{{benchmark}}/{{arm}}/seed{{seed}}.log",
    conda:
        "../../envs/train.yaml"
    threads: 1
    params:
        study=STUDY_FILE,
        base=folder_of_base,
        adapter=folder_of_adapter,
        calibration=run_calibration_option,
        recovery=f"{PRIVATE}/recovery/{{benchmark}}/{{arm}}/seed{{seed}}",
        register=f"{PRIVATE}/register.jsonl",
        settings=run_params,
        execution=EXECUTION,
        code=code_digest(*TRAINING_CODE),
        scorer=reward_digest,
    message:
        "Training {wildcards.benchmark}, {wildcards.arm}, seed {wildcards.seed}"
    shell:
        "promptdp train --study {params.study} --benchmark {wildcards.benchmark} --arm {wildcards.arm}"
        " --seed {wildcards.seed} --records {input.records} {params.calibration} --base {params.base}"
        " --lock {input.lock} --recovery {params.recovery} --register {params.register}"
        " --execution {params.execution}"
        " --adapter {params.adapter} --manifest {output.manifest} --ledger {output.ledger} 2> {log}"
