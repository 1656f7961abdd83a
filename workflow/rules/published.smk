# The paper's published values, held to one another and to our code, and set beside the paper's study.
rule compare_published:
    input:
        values=published_values(),
        exceptions=repo("resources/published/exceptions.csv"),
        paper=paper_study(),
    output:
        record=f"{RESULTS}/published/published.json",
        page=f"{RESULTS}/published/published.md",
    log:
        f"{RESULTS}/logs/compare_published.log",
    conda:
        "../../envs/train.yaml"
    threads: 1
    params:
        study=STUDY_FILE,
        paper=paper_option,
        tables=tables_option(),
        hashes=tables_hashes(),
        code=code_digest("promptdp.reporting.published.suite"),
    message:
        "Checking the paper's published values; the accountant takes about a minute"
    shell:
        "promptdp compare-published --study {params.study} --values {input.values}"
        " --exceptions {input.exceptions} {params.paper} {params.tables}"
        " --out {output.record} --page {output.page} 2> {log}"
