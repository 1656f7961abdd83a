# The public base: trained on the worlds' public corpus, or a checkpoint made ready.
rule public_base:
    input:
        base_source(),
    output:
        model=f"{RESULTS}/base/model.safetensors",
        manifest=f"{RESULTS}/base.json",
    log:
        f"{RESULTS}/logs/public_base.log",
    conda:
        "../../envs/train.yaml"
    params:
        study=STUDY_FILE,
        folder=folder_of_model,
        settings=STUDY.base.model_dump_json(),
        code=code_digest("promptdp.policy.pretrain"),
    message:
        "Making the public base of study {params.study}"
    shell:
        "promptdp base --study {params.study} --out {params.folder} --manifest {output.manifest} 2> {log}"
