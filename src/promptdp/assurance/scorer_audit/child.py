"""The child that asks the other software: a JSON line in, a JSON line out, until its input ends.

It may take a bounded amount of memory. Once it has loaded what it needs it runs no text as code, writes no
file, opens no connection and starts no program, whatever the software or a response asks for: an audit hook,
which nothing can remove, refuses all that is not listed here. Its parent kills it when it hangs.
"""

import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any

from promptdp.assurance.scorer_audit.opinion import NoOpinionError, Reason

Opinions = dict[str, Callable[[str, str], bool]]

ALLOWED = {
    "array.__new__",
    "builtins.id",
    "code.__new__",
    "cpython._PySys_ClearAuditHooks",
    "import",
    "marshal.loads",
    "object.__getattr__",
    "os.listdir",
    "os.scandir",
    "sys._getframe",
}
"""What Python tells of the import of a module and of plain computing."""
GENERATOR = "/sympy/polys/monomials.py"
"""Where sympy runs code of its own making: products of powers, made from nothing but how many there are."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
ORPHANED = 4
"""A child whose parent died before it could be killed ends itself after so many of its time limits."""


def main() -> None:
    """Answer every line {opinion, text, gold} with {says} or {none}; first say that all is loaded."""
    seconds, megabytes = map(int, sys.argv[1:])
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20,) * 2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    opinions = loaded()
    sys.addaudithook(refuse)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        signal.alarm(ORPHANED * seconds)
        print(json.dumps(answered(opinions, json.loads(line))), file=answers, flush=True)
        signal.alarm(0)


def loaded() -> Opinions:
    """The opinions by name, each asked once, so that what they import late is here too."""
    from promptdp.assurance.scorer_audit import library, symbolic

    opinions: Opinions = {
        "math-verify": library.pair,
        "whole response": library.whole,
        "sympy": symbolic.same,
    }
    for ask in opinions.values():
        ask(r"\boxed{\sqrt{x^2+2x+1}}" if ask is library.whole else r"\frac{x+\pi}{2}", r"\frac12(\pi+x)")
    return opinions


def answered(opinions: Opinions, question: dict[str, str]) -> dict[str, Any]:
    """The answer to a question, or the reason why there is none."""
    try:
        return {"says": bool(opinions[question["opinion"]](question["text"], question["gold"]))}
    except NoOpinionError as error:
        return {"none": error.reason}
    except MemoryError:
        return {"none": Reason.MEMORY}
    except Exception:
        return {"none": Reason.ERROR}


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Stop what isn't computing or the import of a module from its file."""
    if event in ALLOWED:
        return
    if event in ("exec", "compile"):
        source = arguments[0].co_filename if event == "exec" else arguments[1]
        caller = sys._getframe(1).f_code.co_filename
        if os.path.isabs(source or "") or caller.endswith(GENERATOR):
            return
    if event == "open" and not (arguments[2] or 0) & WRITING:
        return
    raise PermissionError(event)


if __name__ == "__main__":
    main()
