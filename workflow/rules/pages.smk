# What the report shows, in the order in which a reader looks. Its viewer shows web pages in place and offers text
# for download only, so each page is a rendering of Markdown, JSON or a drawing that another rule wrote.
localrules:
    pages,


rule table_page:
    input:
        f"{RESULTS}/tables/{{table}}.md",
    output:
        report(
            f"{RESULTS}/report/tables/{{table}}.html",
            category="1 Tables",
            labels=table_labels,
            caption="../report/table.rst",
        ),
    log:
        f"{RESULTS}/logs/pages/tables/{{table}}.log",
    wildcard_constraints:
        table=r"table\d+|checks|executions",
    conda:
        "../../envs/train.yaml"
    params:
        code=code_digest("promptdp.reporting.webpage"),
    shell:
        "promptdp page {input} --out {output} 2> {log}"


use rule table_page as figure_page with:
    input:
        f"{RESULTS}/figures/fig{{figure}}.svg",
    output:
        report(
            f"{RESULTS}/report/figures/fig{{figure}}.html",
            category="2 Figures",
            labels=figure_labels,
            caption="../report/figure.rst",
        ),
    log:
        f"{RESULTS}/logs/pages/figures/fig{{figure}}.log",


use rule table_page as decision_page with:
    input:
        f"{MADE}/protocol/{{decision}}.json",
    output:
        report(
            f"{RESULTS}/report/protocol/{{decision}}.html",
            category="3 Protocol",
            labels=decision_labels,
            caption="../report/decision.rst",
        ),
    log:
        f"{RESULTS}/logs/pages/protocol/{{decision}}.log",


use rule table_page as verification_page with:
    input:
        f"{RESULTS}/assurance/verification.md",
    output:
        report(
            f"{RESULTS}/report/assurance/verification.html",
            category="4 Verification",
            labels={"record": "Verification of the private mechanism"},
            caption="../report/verification.rst",
        ),
    log:
        f"{RESULTS}/logs/pages/verification.log",


use rule table_page as certificate_page with:
    input:
        f"{RESULTS}/release/{{benchmark}}/{{arm}}/seed{{seed}}/README.md",
    output:
        report(
            f"{RESULTS}/report/release/{{benchmark}}/{{arm}}/seed{{seed}}.html",
            category="5 Certificates",
            labels={"benchmark": "{benchmark}", "run": "{arm}", "seed": "{seed}"},
            caption="../report/certificate.rst",
        ),
    log:
        f"{RESULTS}/logs/pages/release/{{benchmark}}/{{arm}}/seed{{seed}}.log",


use rule table_page as scorer_audit_page with:
    input:
        f"{RESULTS}/assurance/scorer_audit.md",
    output:
        report(
            f"{RESULTS}/report/assurance/scorer_audit.html",
            category="6 Scorer audit",
            labels={"record": "What other software says about the scores"},
            caption="../report/scorer_audit.rst",
        ),
    log:
        f"{RESULTS}/logs/pages/scorer_audit.log",


use rule table_page as published_page with:
    input:
        f"{RESULTS}/published/published.md",
    output:
        report(
            f"{RESULTS}/report/published/published.html",
            category="7 Published values",
            labels={"record": "The paper's values, checked"},
            caption="../report/published.rst",
        ),
    log:
        f"{RESULTS}/logs/pages/published.log",


rule pages:
    input:
        table_pages(),
        figure_pages(),
        decision_pages(),
        made_pages(),
