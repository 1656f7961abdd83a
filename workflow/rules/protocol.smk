# A decision of the protocol: its frozen files are checked, and a stamp is written that later steps wait for.
rule decide:
    input:
        protocol=PROTOCOL_FILE or [],
        frozen=decision_files,
    output:
        f"{RESULTS}/protocol/{{decision}}.json",
    log:
        f"{RESULTS}/logs/decide/{{decision}}.log",
    conda:
        "../../envs/train.yaml"
    params:
        decision=decision_params,
        code=code_digest("promptdp.protocol"),
    shell:
        "promptdp decide {wildcards.decision} --protocol {input.protocol} --out {output} 2> {log}"
