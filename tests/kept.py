"""What takes the place of the package's calls of compilers in tests: each is made once for all.

Programs of other processes of the tests do that, too, with the folder that they inherit.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kept_analyses import kept_stacks
from kept_compilers import KeptCompilers

from protonn_edge.chips.toolchain import direct, process
from protonn_edge.codegen.families.avr import programs

KEPT = "PROTONN_EDGE_KEPT_BUILDS"
"""The variable that names the folder of what compilers made, which runs share."""

_PLAIN_RUN = subprocess.run
_RUN_WITHIN = process.run_within


def keep_builds(put: Callable[[Any, str, Any], object] = setattr) -> None:
    """Let compilers run once for all programs of the same sources, in tests and in the package.

    A program for the board is analysed once, too.
    """
    kept = KeptCompilers(Path(os.environ[KEPT]))

    def run_within(
        deadline_s: float,
        words: Sequence[str],
        *,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        **rest: Any,
    ) -> subprocess.CompletedProcess[str]:
        def compile_(variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
            return _RUN_WITHIN(deadline_s, words, folder=folder, environment=variables, **rest)

        given = environment or os.environ
        return kept.run(words, folder or Path(), given, compile_) or compile_(given)

    def run_in_turn(
        deadline_s: float, commands: Sequence[Sequence[str]], **rest: Any
    ) -> subprocess.CompletedProcess[str]:
        for words in commands:
            done = run_within(deadline_s, words, **rest)
            if done.returncode != 0 or done.stderr:
                break
        return done

    put(subprocess, "run", _running(kept))
    put(process, "run_within", run_within)
    put(direct, "run_in_turn", run_in_turn)
    put(programs, "worst_case_stack", kept_stacks(programs.worst_case_stack))


def _running(kept: KeptCompilers) -> Callable[..., subprocess.CompletedProcess[Any]]:
    """Return what takes the place of `subprocess.run`."""

    def run(words: Any, *more: Any, **rest: Any) -> subprocess.CompletedProcess[Any]:
        def compile_(environment: Mapping[str, str]) -> subprocess.CompletedProcess[Any]:
            return _PLAIN_RUN(words, **{**rest, "env": environment})

        if more or isinstance(words, str | bytes | os.PathLike) or {"input", "stdin"} & {*rest}:
            return _PLAIN_RUN(words, *more, **rest)
        place, environment = Path(rest.get("cwd") or "."), rest.get("env") or os.environ
        texts = [os.fspath(word) for word in words]
        done = kept.run(texts, place, environment, compile_)
        if done is None:
            return _PLAIN_RUN(words, **rest)
        if isinstance(done.stdout, str) and not rest.keys() & {"text", "encoding"}:
            done.stdout = done.stderr = b""
        return done

    return run
