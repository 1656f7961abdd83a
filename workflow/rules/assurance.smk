# The certificate of a private run and the folder that may be published, once every run on its slots is done:
# they are what it was selected from. The register and the live ledgers lie in the private zone and are named in
# params, since every run changes them; the certificate's log lies there too, as an error may name a folder.
localrules:
    release,


rule certificate:
    input:
        adapter=f"{RESULTS}/runs/{{benchmark}}/{{arm}}/seed{{seed}}/adapter/adapter_model.safetensors",
        config=f"{RESULTS}/runs/{{benchmark}}/{{arm}}/seed{{seed}}/adapter/adapter_config.json",
        manifest=f"{RESULTS}/runs/{{benchmark}}/{{arm}}/seed{{seed}}/run.json",
        ledger=f"{RESULTS}/runs/{{benchmark}}/{{arm}}/seed{{seed}}/ledger.jsonl",
        looks=runs_on_same_slots,
        verification=f"{RESULTS}/assurance/verification.json",
    output:
        f"{RESULTS}/assurance/certificates/{{benchmark}}/{{arm}}/seed{{seed}}.json",
    log:
        f"{PRIVATE}/logs/certificate/{{benchmark}}/{{arm}}/seed{{seed}}.log",
    conda:
        "../../envs/train.yaml"
    params:
        run=folder_of_manifest,
        register=f"{PRIVATE}/register.jsonl",
        code=code_digest("promptdp.assurance.certificate"),
    shell:
        "promptdp certificate --run {params.run} --register {params.register}"
        " --verification {input.verification} --out {output} 2> {log}"


rule release_run:
    input:
        adapter=f"{RESULTS}/runs/{{benchmark}}/{{arm}}/seed{{seed}}/adapter/adapter_model.safetensors",
        config=f"{RESULTS}/runs/{{benchmark}}/{{arm}}/seed{{seed}}/adapter/adapter_config.json",
        manifest=f"{RESULTS}/runs/{{benchmark}}/{{arm}}/seed{{seed}}/run.json",
        ledger=f"{RESULTS}/runs/{{benchmark}}/{{arm}}/seed{{seed}}/ledger.jsonl",
        certificate=f"{RESULTS}/assurance/certificates/{{benchmark}}/{{arm}}/seed{{seed}}.json",
    output:
        adapter=f"{RESULTS}/release/{{benchmark}}/{{arm}}/seed{{seed}}/adapter_model.safetensors",
        config=f"{RESULTS}/release/{{benchmark}}/{{arm}}/seed{{seed}}/adapter_config.json",
        ledger=f"{RESULTS}/release/{{benchmark}}/{{arm}}/seed{{seed}}/ledger.jsonl",
        manifest=f"{RESULTS}/release/{{benchmark}}/{{arm}}/seed{{seed}}/manifest.json",
        certificate=f"{RESULTS}/release/{{benchmark}}/{{arm}}/seed{{seed}}/certificate.json",
        page=f"{RESULTS}/release/{{benchmark}}/{{arm}}/seed{{seed}}/README.md",
    log:
        f"{RESULTS}/logs/release/{{benchmark}}/{{arm}}/seed{{seed}}.log",
    conda:
        "../../envs/train.yaml"
    params:
        run=folder_of_manifest,
        folder=folder_of_release,
        code=code_digest("promptdp.assurance.release"),
    shell:
        "promptdp release --run {params.run} --certificate {input.certificate} --out {params.folder} 2> {log}"


rule release:
    input:
        all_releases(),
