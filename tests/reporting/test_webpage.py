"""Web pages of the report: the page as it was written, and nothing that a browser would fetch or run."""

import base64
import re

import pytest

from promptdp.cli import main
from promptdp.errors import InputError
from promptdp.reporting.webpage import as_webpage, write_webpage


def test_a_table_is_a_table_with_its_columns_aligned():
    page = as_webpage("**Table 2.** Gains.\n\n| Arm |  pp |\n| --- | --: |\n| a\\|b | +1.0 |\n", "table2")
    assert "<strong>Table 2.</strong> Gains." in page
    assert "<td>a|b</td>" in page and '<td style="text-align:right">+1.0</td>' in page
    assert "<title>table2</title>" in page


HOSTILE = {
    "a script": "<script>alert(1)</script>",
    "an event": '<img src=x onerror="alert(1)">',
    "a link that runs": "[here](javascript:alert(1))",
    "a frame": '| a |\n|---|\n| <iframe src="//example.org"> |',
}


@pytest.mark.parametrize("case", HOSTILE)
def test_html_in_a_page_is_shown_and_not_obeyed(case):
    body = as_webpage(HOSTILE[case], "<b>").partition("<body>")[2]
    assert not re.search(r"<(script|img|iframe)|href=", body)
    assert "<title>&lt;b&gt;</title>" in as_webpage("", "<b>")


def test_a_link_within_a_page_leads_somewhere():
    page = as_webpage('[below](#chunks)\n\n<a id="chunks"></a>\n\n## Chunks\n', "x")
    assert '<a href="#chunks">' in page and '<a id="chunks"></a>' in page
    assert '<a id="x" onclick' not in as_webpage('<a id="x" onclick="y"></a>', "x")


def test_no_page_asks_for_anything_else(tmp_path):
    page = as_webpage("![seen](https://example.org/x.png)", "x")
    assert "default-src 'none'" in page  # a browser fetches no such image


def test_a_drawing_is_inside_its_page_and_json_stands_as_it_is(tmp_path):
    drawing, stamp = tmp_path / "fig2.svg", tmp_path / "rule.json"
    drawing.write_text("<svg><script/></svg>")
    stamp.write_text('{"a": "<b>"}')
    for path in (drawing, stamp):
        main(["page", str(path), "--out", f"{path}.html"])
    assert base64.b64encode(drawing.read_bytes()).decode() in (tmp_path / "fig2.svg.html").read_text()
    assert "{&quot;a&quot;: &quot;&lt;b&gt;&quot;}" in (tmp_path / "rule.json.html").read_text()


def test_what_is_no_text_is_refused(tmp_path):
    (tmp_path / "x.md").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"x\.md: is no text"):
        write_webpage(tmp_path / "x.md", tmp_path / "x.html")
    with pytest.raises(InputError, match="cannot be read"):
        write_webpage(tmp_path / "none.md", tmp_path / "x.html")
