# The verification suite of the paper's Appendix B on the study's base: a record and a page to read.
rule verify:
    input:
        base=f"{RESULTS}/base.json",
        model=f"{RESULTS}/base/model.safetensors",
    output:
        record=f"{RESULTS}/assurance/verification.json",
        page=f"{RESULTS}/assurance/verification.md",
    log:
        f"{RESULTS}/logs/verify.log",
    conda:
        "../../envs/train.yaml"
    threads: 1
    params:
        study=STUDY_FILE,
        base=folder_of_base,
        settings=verify_params,
        code=code_digest("promptdp.assurance.verification.suite", *TRAINING_CODE),
    message:
        "Verifying the private mechanism on the base of study {params.study}"
    shell:
        "promptdp verify --study {params.study} --base {params.base}"
        " --out {output.record} --page {output.page} 2> {log}"
