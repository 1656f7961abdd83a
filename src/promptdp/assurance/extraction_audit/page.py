"""The sheet as a page to read or print: one file that loads nothing and runs nothing."""

from collections.abc import Sequence

from jinja2 import Environment, StrictUndefined

from promptdp.assurance.extraction_audit.sheet import GIVEN, NO_ANSWER, Asks, Item

TASK: dict[Asks, str] = {
    "reading": (
        "Write down the final answer that the response itself gives, right or wrong, in its own words or "
        "signs: all values where it gives several, the letter where it chooses an option. Write "
        f"“{NO_ANSWER}” where it gives none, takes its answer back or leaves several choices open."
    ),
    "consistent": (
        "Write “yes” where the candidate is the final answer that the response itself gives, right or wrong, "
        f"and “no” where it is not. The candidate “{NO_ANSWER}” says that the response gives none."
    ),
}
_TEMPLATE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>Reading sheet</title>
<style>
body { font: 1rem/1.5 Georgia, serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #111; }
section { border-top: 1px solid #999; padding: .5rem 0 1rem; break-inside: avoid; }
h2, dt { font: bold .85rem/1.8 sans-serif; }
dd { margin: 0 0 .5rem; padding: .3rem .6rem; background: #f4f4f2; white-space: pre-wrap;
     overflow-wrap: anywhere; unicode-bidi: isolate; }
dd.fill { background: none; border-bottom: 1px dotted #555; height: 1.6rem; }
</style>
</head>
<body>
<h1>Reading sheet, {{ items|length }} items</h1>
<p>{{ task }} Leave blank what you can't tell. Do not work the question out: only what is written counts.</p>
<p>Fill in the columns <em>{{ asks }}</em> and <em>note</em> of the CSV file, and change nothing else. Its
texts begin with an apostrophe, which is not part of them. In a spreadsheet, give the column
<em>{{ asks }}</em> the format “text” first, lest 1/2 become a date, and save as CSV UTF-8.</p>
{% for item in items %}
<section>
<h2>Item {{ item.number }}</h2>
<dl>
{% for name in given %}
<dt>{{ name }}</dt>
<dd dir="auto">{{ item.texts[loop.index0] }}</dd>
{% endfor %}
<dt>{{ asks }}</dt><dd class="fill"></dd>
<dt>note</dt><dd class="fill"></dd>
</dl>
</section>
{% endfor %}
</body>
</html>
"""
_ESCAPING = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def as_html(items: Sequence[Item], asks: Asks) -> str:
    """The items of a sheet with the reader's instructions; all texts are escaped."""
    return _ESCAPING.from_string(_TEMPLATE).render(items=items, asks=asks, given=GIVEN[asks], task=TASK[asks])
