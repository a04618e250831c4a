"""Runs copies of the package, each in a process that has already imported all libraries.

A program: each line of standard input names a copy, a folder to work in and commands, as JSON; each
line of standard output is the result. Libraries are imported once, and PlatformIO's builds are
replayed, so that a copy takes two seconds and not ten.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

SHIM = "chips/toolchain/shim"  # PlatformIO's: it runs where SCons does


def modules_in(copy: Path) -> Iterator[tuple[str, Path]]:
    """Yield the modules of a copy of the package that can be imported, with their files."""
    package = copy / "protonn_edge"
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(copy).with_suffix("")
        if SHIM not in path.as_posix() and place.name != "__main__":
            parts = place.parts[:-1] if place.name == "__init__" else place.parts
            yield ".".join(parts), path


def import_others(copy: Path) -> None:
    """Import all libraries that modules of a copy import."""
    names = set[str]()
    for _, path in modules_in(copy):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names.add(str(node.module))
    for name in sorted(names):
        if not name.startswith("protonn_edge"):
            with suppress(ImportError):
                import_module(name)


def run(copy: str, folder: str, commands: list[list[str]], kept: str) -> dict[str, Any]:
    """Import all modules of a copy, with all that they offer, and run commands in a folder."""
    sys.path.insert(0, copy)
    os.chdir(folder)
    failed = {}
    for name, _ in modules_in(Path(copy)):
        try:
            module = import_module(name)
            for each in getattr(module, "__all__", ()):
                getattr(module, each)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
            failed[name] = f"{type(error).__name__}: {error}"
    kept_builds(Path(kept))
    done = []
    from click.testing import CliRunner

    main = import_module("protonn_edge.cli").main
    for words in commands:
        result = CliRunner().invoke(main, words)
        done.append([words, result.exit_code, result.output, repr(result.exception)])
    return {"failed": failed, "done": done, "seconds": time.process_time()}


def kept_builds(kept: Path) -> None:
    """Let PlatformIO, the compiler and Jinja run once for all copies, as for all other tests."""
    from kept_programs import KeptPrograms
    from kept_templates import with_kept_templates
    from replayed_builds import ReplayedBuilds

    from protonn_edge.chips.toolchain import platformio
    from protonn_edge.codegen import host, renderer

    platformio.run_within = ReplayedBuilds(kept, platformio.run_within)
    host.build_host_executable = KeptPrograms(kept, host.build_host_executable)
    of_rooms = kept / "templates of rooms"  # whose tracebacks name files of a copy
    renderer._environment = with_kept_templates(of_rooms, renderer._environment)


def serve(whole: Path) -> None:
    """Answer each line of standard input by a process of its own.

    None looks for garbage, which takes a quarter of its time among what all of them have.
    """
    import_others(whole)
    gc.freeze()
    gc.disable()
    for line in sys.stdin:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            with os.fdopen(writing, "w") as answer:
                try:
                    said = run(**json.loads(line))
                except BaseException:  # noqa: BLE001 - nothing may return into the loop
                    said = {"failed": {"": traceback.format_exc()}}
                json.dump(said, answer)
                answer.flush()
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as answer:
            text = answer.read()
        os.waitpid(child, 0)
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
