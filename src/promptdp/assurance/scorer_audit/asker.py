"""Asking the child: one question at a time under a clock; a child that hangs is killed and replaced."""

import json
import subprocess
import sys
from threading import Event, Timer
from typing import Any

from promptdp.assurance.scorer_audit import child
from promptdp.assurance.scorer_audit.opinion import Opinion, Reason
from promptdp.closure import SOURCE
from promptdp.errors import PromptDPError

SECONDS = 5
"""Longest wait for one opinion."""
LOADING = 120
"""Longest wait for a child that loads its libraries."""
MEGABYTES = 2_000
"""Most address space of the child."""
LONGEST = 20_000
"""Longest text, in characters, that is asked about."""


class Asker:
    """Asks for second opinions; close it, so that no child is left.

    Args:
        seconds: the longest wait for one opinion.
        megabytes: the most address space of the child.
    """

    def __init__(self, seconds: int = SECONDS, megabytes: int = MEGABYTES):
        self.command = [sys.executable, "-s", "-P", "-B", "-m", child.__name__, str(seconds), str(megabytes)]
        self.seconds = seconds
        self.process: subprocess.Popen[str] | None = None

    def ask(self, opinion: str, text: str, gold: str) -> Opinion:
        """What the software of this name says: whether a text is right, given the reference, or why it can't.

        Raises:
            PromptDPError: the child can't start.
        """
        if max(len(text), len(gold)) > LONGEST:
            return Reason.LONG
        if self.process is None:
            self._start()
        answer = self._exchange({"opinion": opinion, "text": text, "gold": gold}, self.seconds)
        if isinstance(answer, Reason):
            return answer
        return bool(answer["says"]) if "says" in answer else Reason(answer["none"])

    def _start(self) -> None:
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PYTHONPATH": str(SOURCE.parent), "PYTHONHASHSEED": "0"},
            text=True,
            encoding="utf-8",
        )
        if isinstance(self._exchange(None, LOADING), Reason):
            raise PromptDPError(
                f"{sys.executable}: cannot load the other software; install the pinned requirements (envs/)"
            )

    def _exchange(self, question: dict[str, str] | None, seconds: int) -> dict[str, Any] | Reason:
        """The child's next line, after it was told a question; a child that gives none is gone afterwards."""
        process = self.process
        assert process is not None and process.stdin is not None and process.stdout is not None
        hung = Event()

        def kill() -> None:
            hung.set()
            process.kill()

        clock = Timer(seconds, kill)
        clock.start()
        try:
            if question is not None:
                print(json.dumps(question), file=process.stdin, flush=True)
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            clock.cancel()
            clock.join()
        if hung.is_set() or not line.endswith("\n"):
            self.close()
        if line.endswith("\n"):
            answer: dict[str, Any] = json.loads(line)
            return answer
        return Reason.TIMEOUT if hung.is_set() else Reason.ERROR

    def close(self) -> None:
        """End the child, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None
