# A decision of the protocol: its frozen files are checked, and a stamp is written that later steps wait for. Only
# what the decision itself says is followed, so that an amendment of one leaves the stamps of the others alone.
localrules:
    protocol,


rule decide:
    input:
        frozen=decision_files,
        evidence=decision_evidence,
    output:
        f"{RESULTS}/protocol/{{decision}}.json",
    log:
        f"{RESULTS}/logs/decide/{{decision}}.log",
    conda:
        "../../envs/train.yaml"
    params:
        protocol=PROTOCOL_FILE,
        decision=decision_params,
        evidence=evidence_option,
    shell:
        "promptdp decide {wildcards.decision} --protocol {params.protocol} {params.evidence}"
        " --out {output} 2> {log}"


rule protocol:
    input:
        all_stamps(),
