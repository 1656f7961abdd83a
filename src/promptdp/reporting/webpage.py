"""A Markdown page as a web page that needs nothing else: no network, no script, no other file."""

from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

from promptdp.errors import InputError
from promptdp.files import read_bytes, write_text

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; }}
body {{ margin: 1.5rem; max-width: 70rem; }}
p, li {{ max-width: 46rem; }}
table {{ border-collapse: collapse; border-top: 2px solid; border-bottom: 2px solid; margin: 1rem 0; }}
table {{ font-variant-numeric: tabular-nums; font-size: 14px; }}
th {{ border-bottom: 1px solid; text-align: left; }}
th, td {{ padding: 0.2rem 0.7rem; vertical-align: top; }}
tbody tr:hover {{ background: #f0f4f8; }}
code, pre {{ font-family: ui-monospace, monospace; font-size: 13px; background: #f4f4f4; }}
pre {{ padding: 0.5rem; overflow-x: auto; }}
</style>
</head>
<body>
{body}</body>
</html>
"""


def as_webpage(markdown: str, title: str) -> str:
    """A page in Markdown (CommonMark and tables) as HTML; HTML in it is shown as it stands, never obeyed."""
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    return PAGE.format(title=escape(title), body=body)


def write_webpage(markdown: Path, out: Path) -> None:
    """Write a file of Markdown as a web page, its title the file's name.

    Raises:
        InputError: the file cannot be read as text.
    """
    try:
        text = read_bytes(markdown).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{markdown}: is no text; give a page in Markdown") from None
    write_text(out, as_webpage(text, markdown.stem))
