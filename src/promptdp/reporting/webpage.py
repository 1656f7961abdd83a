"""A page as a web page that needs nothing else: no network, no script, no other file."""

import base64
import re
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
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; }}
body {{ margin: 1.5rem; max-width: 70rem; }}
p, li {{ max-width: 46rem; }}
table {{ border-collapse: collapse; border-top: 2px solid; border-bottom: 2px solid; margin: 1rem 0; }}
table {{ font-variant-numeric: tabular-nums; font-size: 14px; }}
th {{ border-bottom: 1px solid; text-align: left; }}
th, td {{ padding: 0.2rem 0.7rem; vertical-align: top; }}
td[style*=right] {{ white-space: nowrap; }}
img {{ width: 100%; max-width: 60rem; }}
tbody tr:hover {{ background: #f0f4f8; }}
code, pre {{ font-family: ui-monospace, monospace; font-size: 13px; background: #f4f4f4; }}
pre {{ padding: 0.5rem; white-space: pre-wrap; }}
</style>
</head>
<body>
{body}</body>
</html>
"""

ANCHOR = re.compile("&lt;a id=&quot;([a-z0-9-]+)&quot;&gt;&lt;/a&gt;")


def as_webpage(markdown: str, title: str) -> str:
    """A page in Markdown (CommonMark and tables) as HTML.

    HTML in it is shown as it stands, never obeyed, but for an empty `<a id="name"></a>`, the end of a link.
    """
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    return _page(ANCHOR.sub(r'<a id="\1"></a>', body), title)


def write_webpage(path: Path, out: Path) -> None:
    """Write Markdown, a drawing (SVG) or JSON as it stands as a web page; its title is the file's name.

    Raises:
        InputError: the file cannot be read, or is no text.
    """
    content = read_bytes(path)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is no text; give a page in Markdown, a drawing in SVG, or JSON") from None
    match path.suffix:
        case ".svg":
            data = base64.b64encode(content).decode()
            page = _page(
                f'<img alt="{escape(path.stem)}" src="data:image/svg+xml;base64,{data}">\n', path.stem
            )
        case ".json":
            page = _page(f"<pre>{escape(text)}</pre>\n", path.stem)
        case _:
            page = as_webpage(text, path.stem)
    write_text(out, page)


def _page(body: str, title: str) -> str:
    return PAGE.format(title=escape(title), body=body)
