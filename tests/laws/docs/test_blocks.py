"""What the pages show is so: every command runs, every program compiles, and prints what is shown.

The blocks of a page run in order, in a folder of their own. Unless a comment on the page says
``starts with: nothing``, train.csv, test.csv, model.npz, the project that `build` makes of it and
the results of a run lie there already. ``PROTONN_EDGE_RENEW_PAGES=1 pytest`` with this file and
``-k tutorial`` writes the numbers that are printed into these pages; read the difference.
"""

from __future__ import annotations

import configparser
import contextlib
import doctest
import io
import json
import os
import re
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from arduino_ide import SKETCHES, compile_source
from avr_tools import EMULATED_AVR, skip_without
from checkout import CHECKOUT
from command_line import run
from doc_blocks import MARKS, PAGES, Block, blocks_of, missing_extensions, page_marks
from programs import interruptible, started

from protonn_edge.learn.search.workers import Workers

# Numbers that may differ are then written into the pages, by commands in processes of their own,
# which round floats as users' do.
RENEWS = "PROTONN_EDGE_RENEW_PAGES" in os.environ
DEADLINE_S = 600.0 if RENEWS else 120.0
C_FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
BLOCKS = [block for path in PAGES for block in blocks_of(path)]
# The last command or program of each page that the start page names as a way to begin. A reader
# takes at most ten minutes; other work on this computer does not change the CPU seconds.
TUTORIAL_LIMIT_S = 600
START = (CHECKOUT / "docs" / "index.md").read_text("utf-8").partition("| you have")[2]
WAYS_TO_START = re.findall(r"\]\((\S+\.md)\)", START.partition("\n\n")[0])
TUTORIALS = {
    block.page: block
    for block in BLOCKS
    if Path(block.page).name in WAYS_TO_START
    and block.language in ("console", "python")
    and not {"needs", "package"} & {*block.marks}
}
RUN_BY_SHELL = re.compile(r"[|&;<>$`*]")
NUMBER = re.compile(r"\b[0-9a-f]{16,}\b|-?\d+(?:[.,]\d+)*")
# Figures, formulas; tests/device reads the frames of the protocol; a command builds the project.
NOT_RUN = ("text", "frame", "cmake")


RunPytest = Callable[[list[str]], pytest.RunResult]


class Page:
    """A folder to run a page's blocks in, what each Python block has defined, and their time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: list[dict[str, Any]] = []
        self.seconds = self.cpu_seconds = 0.0
        self.run_pytest: RunPytest

    def names_for(self, block: Block) -> dict[str, Any]:
        """Return what a Python block finds defined: nothing, unless it continues another one."""
        known = {"first": self.names[:1], "previous": self.names[-1:]}.get(block.continues, [])
        self.names.append(dict(known[0]) if known else {"__name__": "__main__"})
        return self.names[-1]

    @contextlib.contextmanager
    def timed(self) -> Iterator[None]:
        """Add the time of a block, of which its processes have a part."""
        begun, before = time.perf_counter(), sum(os.times()[:4])
        yield
        self.seconds += time.perf_counter() - begun
        self.cpu_seconds += sum(os.times()[:4]) - before


@pytest.fixture(scope="module")
def _settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROTONN_EDGE_PLATFORMIO", "offline")
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        patch.setenv("COLUMNS", "300" if RENEWS else "100")
        patch.setenv("BROWSER", "true")  # --open shows nothing
        patch.setattr("protonn_edge.cli.tuning._TRIALS", 4)  # what would take all of --minutes
        # Each process of a search imports all libraries.
        patch.setattr("protonn_edge.cli.tuning._workers", lambda *given: Workers(*given[:2]))
        yield


@pytest.fixture(scope="module")
def project(_settings: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what most pages start with: small, and made once."""
    skip_without(*EMULATED_AVR)
    folder = tmp_path_factory.mktemp("project")
    write_digits(folder)
    for command in (
        "train train.csv -o model.npz --epochs 20",
        "build model.npz",
        "hil test.csv --emulate -o results.csv",
    ):
        assert run_command(command.split(), folder).exit_code == 0
    return folder


@pytest.fixture(scope="module")
def pages(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Block], Page]:
    """Return a function that gives a block the page that the blocks before it have left."""
    made: dict[str, Page] = {}

    def page_of(block: Block) -> Page:
        if block.page not in made:
            folder = tmp_path_factory.mktemp("page")
            if page_marks(CHECKOUT / block.page).get("starts with") != "nothing":
                shutil.copytree(project, folder, dirs_exist_ok=True)
            made[block.page] = Page(folder)
        return made[block.page]

    return page_of


def write_digits(folder: Path) -> None:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    header = ",".join(["label", *(f"pixel_{pixel}" for pixel in range(64))])
    for name, part in (("train.csv", slice(0, 400)), ("test.csv", slice(600, 700))):
        rows = [
            [label, *pixels] for label, pixels in zip(y[part], X[part].astype(int), strict=True)
        ]
        lines = [header, *(",".join(map(str, row)) for row in rows)]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_block(
    block: Block,
    pages: Callable[[Block], Page],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
):
    check_marks(block)
    page = pages(block)
    page.run_pytest = partial(run_pytest, request, page.folder)
    monkeypatch.chdir(page.folder)
    if "file" in block.marks:
        Path(block.marks["file"]).write_text(block.text, encoding="utf-8", newline="\n")
    if "excerpt" in block.marks:
        assert_excerpt(block.text, Path(block.marks["excerpt"]).read_text("utf-8"))
    else:
        with page.timed():
            CHECKS[block.language](block, page)
    if block.page in TUTORIALS and block is TUTORIALS[block.page]:
        record_property("tutorial", f"{block.page} {page.seconds:.0f} s")
        record_property("cpu", f"{page.cpu_seconds:.0f} s")
        assert page.cpu_seconds <= TUTORIAL_LIMIT_S, f"{block.page} takes {page.cpu_seconds:.0f} s"


def test_each_way_to_start_has_a_timed_tutorial():
    assert len(TUTORIALS) == 10


def check_marks(block: Block) -> None:
    """Skip a block that cannot run here; a mark or a language that nobody knows is a mistake."""
    assert set(block.marks) <= {*MARKS}, f"{block}: nobody knows {block.marks}"
    assert "needs" in block.marks or block.language in {*CHECKS}, (
        f"{block}: its language is unknown"
    )
    if "needs" in block.marks:
        pytest.skip(f"needs {block.marks['needs']}; to run: try it by hand there")
    if missing := missing_extensions(block.marks, page_marks(CHECKOUT / block.page)):
        pytest.skip(f"needs the extension {missing[0]}; to run: install it")
    if "package" in block.marks:
        name = block.marks["package"]
        pytest.importorskip(name, reason=f"needs {name}; to run: pip install {name}")


# --- console -------------------------------------------------------------------------------------


def check_console(block: Block, page: Page) -> None:
    """Run each line that begins with ``$ ``; what follows it is what it prints."""
    steps, shown = commands_of(block.text), block.text
    for number, (line, wanted) in enumerate(steps):
        command = f"{line.partition(' #')[0]} {block.marks.get('adds', '')}".rstrip()
        if block.marks.get("until") == "Ctrl-C":
            printed = run_until_stopped(command, page.folder)
            code = 0
        else:
            printed, code = run_line(command, page.folder, page.run_pytest)
        last = number == len(steps) - 1
        assert code == int(block.marks.get("exit", 0) if last else 0), f"{command}\n{printed}"
        seen = masked if "numbers" in block.marks else str
        if wanted:
            assert_printed(command, seen(wanted), seen(printed))
            shown = shown.replace(wanted, renewed(wanted, printed), 1)
    if RENEWS and "numbers" in block.marks:
        path = CHECKOUT / block.page
        path.write_text(path.read_text("utf-8").replace(block.text, shown, 1), "utf-8")


def renewed(shown: str, printed: str) -> str:
    """Return the lines of a page with the numbers that were printed; ``...`` ends a line's."""
    rest, lines = printed.splitlines(), []
    for line in shown.splitlines(keepends=True):
        start, dots, _ = line.partition("...")
        alike = [at for at, each in enumerate(rest) if masked(each).startswith(masked(start))]
        if start.strip() and alike and (dots or masked(rest[alike[0]]) == masked(start)):
            lines.append(_with_numbers_of(start, rest[alike[0]]) + line[len(start) :])
            del rest[: alike[0] + 1]
        else:
            lines.append(line)
    return "".join(lines)


def _with_numbers_of(line: str, printed: str) -> str:
    """Return a line with the numbers of the one that was printed."""
    numbers = iter(NUMBER.findall(printed))
    return NUMBER.sub(lambda _: next(numbers), line)


def test_shown_numbers_are_renewed_line_by_line() -> None:
    shown = "a 1.5 ms\n...\n  b 20 of 3 B, ...\nc 4\n"
    printed = "x 9\na 1.7 ms\n  b 9,321 of 3 B, 7 more\nd 8\n"
    assert renewed(shown, printed) == "a 1.7 ms\n...\n  b 9,321 of 3 B, ...\nc 4\n"


def commands_of(text: str) -> list[tuple[str, str]]:
    """Return the commands of a block, each with the lines that it prints."""
    joined = re.sub(r"\\\n\s*", "", text)
    first, *steps = re.split(r"^\$ ", joined, flags=re.MULTILINE)
    assert not first.strip(), f"{first!r} comes before the first command, which begins with '$ '"
    parts = (step.partition("\n") for step in steps)
    return [(command, printed.strip("\n")) for command, _, printed in parts]


def run_line(command: str, folder: Path, run_pytest: RunPytest) -> tuple[str, int]:
    """Run one line; pytest, programs in Python and own commands in this process: it is quicker."""
    words = shlex.split(command, comments=True)
    if words[:1] == ["protonn-edge"] and words[-2:-1] == [">"]:
        done = run_command(words[1:-2], folder)
        (folder / words[-1]).write_text(done.stdout, encoding="utf-8")
        return done.stderr, done.exit_code
    if words[:1] == ["protonn-edge"] and not RENEWS and not RUN_BY_SHELL.search(" ".join(words)):
        done = run_command(words[1:], folder)
        return done.output, done.exit_code
    if words[:1] == ["python"] and len(words) == 2:
        return run_program(folder / words[1]), 0
    if words[:1] == ["pytest"]:
        tested = run_pytest(words[1:])
        return tested.stdout.str(), int(tested.ret)
    ran = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=DEADLINE_S,
        check=False,
    )
    return ran.stdout, ran.returncode


def run_command(words: list[str], folder: Path) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = run(*words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def run_program(path: Path) -> str:
    """Run a program in Python in its folder; return what it prints."""
    printed = io.StringIO()
    with contextlib.chdir(path.parent), contextlib.redirect_stdout(printed):
        runpy.run_path(str(path), run_name="__main__")
    return printed.getvalue()


def run_pytest(request: pytest.FixtureRequest, folder: Path, words: list[str]) -> pytest.RunResult:
    """Run pytest in a folder."""
    pytester: pytest.Pytester = request.getfixturevalue("pytester")  # which has a folder of its own
    with contextlib.chdir(folder):
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *words)


def run_until_stopped(command: str, folder: Path) -> str:
    """Run a line until it says that Ctrl-C ends it, then do that."""
    printed = ""
    with started(
        *interruptible(*shlex.split(command, comments=True)),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        for line in process.stdout:
            printed += line
            if "Ctrl-C" in line:  # what such a command says last
                process.send_signal(signal.SIGINT)
        assert process.wait() == 0, printed
    return printed


def assert_printed(command: str, wanted: str, printed: str) -> None:
    """Compare up to white space; ``...`` stands for anything, or nothing."""
    first, *others = (" ".join(piece.split()) for piece in wanted.split("..."))
    rest = " ".join(printed.split())
    same = rest.startswith(first) if others else rest == first
    rest = rest[len(first) :]
    for piece in filter(None, others[:-1]):
        _, found, rest = rest.partition(piece)
        same = same and found == piece
    same = same and (not others or rest.endswith(others[-1]))
    assert same, f"$ {command}\nshown:\n{wanted}\nprinted:\n{printed}"


# --- programs ------------------------------------------------------------------------------------


def check_python(block: Block, page: Page) -> None:
    """Run a program, or hold a session with ``>>>`` against what it gives."""
    names = page.names_for(block)
    if ">>> " not in block.text:
        exec(compile(block.text, str(block), "exec", dont_inherit=True), names)
        return
    session = doctest.DocTestParser().get_doctest(
        block.text, names, str(block), block.page, block.line
    )
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
    said: list[str] = []
    runner.run(session, out=said.append, clear_globs=False)
    names.update(session.globs)
    assert runner.failures == 0, "".join(said)


def check_c(block: Block, page: Page) -> None:
    """Compile a file against the generated model without a warning; a whole program also runs.

    A file with a name is for commands after it.
    """
    if "file" in block.marks:
        return
    source = page.folder / "block.c"
    source.write_text(block.text, encoding="utf-8")
    generated = page.folder / "firmware" / "generated"
    command: list[object] = ["gcc", *C_FLAGS, f"-I{generated}", source, "-o", "block"]
    program = "int main(" in block.text
    command += [generated / "pnn_model.c"] if program else ["-c"]
    done = subprocess.run(
        command, cwd=page.folder, capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert done.returncode == 0, done.stderr
    if program:
        subprocess.run(["./block"], cwd=page.folder, check=True, timeout=DEADLINE_S)


def check_sketch(block: Block, page: Page) -> None:
    """Compile a sketch as the Arduino IDE does, with the libraries that the page has exported."""
    skip_without(*SKETCHES)
    source = page.folder / "block.ino"
    source.write_text(block.text, encoding="utf-8")
    libraries = [path.parent / "src" for path in page.folder.glob("*/library.properties")]
    compile_source(source, page.folder / "block.o", libraries, "-Wall", "-Wextra", "-Werror")


def assert_excerpt(shown: str, whole: str) -> None:
    """Compare lines, all digits alike: a model's numbers are those of the machine it is made on."""
    parts = [masked(part) for part in re.split(r"^\s*\.\.\.\s*$", shown, flags=re.MULTILINE)]
    rest = masked(whole)
    for part in parts:
        found, rest = rest.partition(part)[1:]
        assert found or not part, f"these lines are not in the file:\n{part}"


def masked(text: str) -> str:
    """Return a text with all numbers and digests alike, and without white space that can vary."""
    alike = NUMBER.sub("#", text)
    return "\n".join(re.sub(r" +", " ", line).rstrip() for line in alike.splitlines()).strip("\n")


# --- settings ------------------------------------------------------------------------------------


def check_ini(block: Block, _: Page) -> None:
    configparser.ConfigParser().read_string(block.text)


CHECKS: dict[str, Callable[[Block, Page], object]] = {
    "console": check_console,
    "python": check_python,
    "c": check_c,
    "cpp": check_sketch,
    "ini": check_ini,
    "toml": lambda block, _: tomllib.loads(block.text),
    "yaml": lambda block, _: yaml.safe_load(block.text),
    "json": lambda block, _: json.loads(block.text),
    **dict.fromkeys(NOT_RUN, lambda *_: None),
}
