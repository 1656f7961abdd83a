"""A step's code digest follows every module it can run, and nothing else."""

import pytest

import promptdp.closure as closure
from promptdp.closure import code_digest, import_closure
from promptdp.training import CODE

TYPES_ALONE = "if TYPE_CHECKING:\n    import promptdp.d\n"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of its own: a imports b at the top and c inside a function; d stands alone."""
    sources = {
        "__init__": "",
        "a": "from promptdp.b import thing\ndef f():\n    import promptdp.c\n" + TYPES_ALONE,
        "b": "from promptdp import sub\nthing = 1\n",
        "c": "import json\n",
        "d": "",
        "sub/__init__": "",
        "sub/e": "",
    }
    for name, text in sources.items():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(closure, "SOURCE", tmp_path)
    closure._imports.cache_clear()
    yield tmp_path
    closure._imports.cache_clear()


def test_the_closure_holds_imports_at_the_top_and_inside_functions_and_packages_on_the_way(package):
    assert list(import_closure("promptdp.a")) == [
        "promptdp",
        "promptdp.a",
        "promptdp.b",
        "promptdp.c",
        "promptdp.sub",
    ]


@pytest.mark.parametrize(
    ("edited", "changes"), [("a", True), ("b", True), ("c", True), ("d", False), ("sub/e", False)]
)
def test_the_digest_changes_with_the_closure_and_only_then(package, edited, changes):
    before = code_digest("promptdp.a")
    (package / f"{edited}.py").write_text("# edited\n" + (package / f"{edited}.py").read_text())
    assert (code_digest("promptdp.a") != before) == changes


def test_a_figures_edit_trains_nothing_again():
    training = {name for module in CODE for name in import_closure(module)}
    others = {"reporting", "statistics", "assurance", "cli", "study"}
    assert "promptdp.privacy.clip" in training
    assert not {name for name in training if others & set(name.split("."))}
