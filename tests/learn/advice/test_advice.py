"""Whatever a message of the command line advises works, and leads to no circle."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from command_line import skip_unless_known, succeed
from extension_parts import needs
from learn.advice.following import advised, follow, in_shell
from learn.advice.inputs import corpus_lines
from learn.advice.workspace import command_lines, make

# The lines with the cheapest folder; `follow_all.py` follows all.
LINES = [line for line in command_lines() if not line.startswith("~ ")][::6]
EVERY = 33  # one of so many cases of the corpus


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder in which the command lines run."""
    return tmp_path_factory.mktemp("advice")


@pytest.fixture(scope="module")
def made() -> set[str]:
    """Give the names of what the folder has."""
    return set()


@pytest.mark.parametrize("line", LINES)
def test_what_a_message_advises_works(
    line: str, folder: Path, made: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_unless_known(shlex.split(line))
    monkeypatch.chdir(folder)
    make(line, lambda each: succeed(*shlex.split(each)), made)
    faults = [f"{each.advice.line}: {each.came}" for each in follow(line) if each.faulty]
    assert not faults


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(n, marks=pytest.mark.nightly) for n in (11, 22))]
)
def test_what_a_message_about_a_case_of_the_corpus_advises_works(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = [each for line in corpus_lines(tmp_path, EVERY, part) for each in follow(line, own={})]
    assert [each for each in found if each.advice.line]
    assert not [f"{each.advice.line}: {each.came}" for each in found if each.faulty]


@pytest.mark.parametrize(
    ("line", "sentence", "lines"),
    [
        ("train a.csv -o m.npz --budget 2kB", "too small; omit it", []),
        ("train a.csv --epochs 3", "--epochs is given; omit it", ["train a.csv"]),
        (
            "train a.csv --groups persn",
            "--groups is 'persn', which is no column; did you mean 'person'?",
            ["train a.csv --groups person"],
        ),
        (
            "train 'a b.csv'",
            "it has gaps; use --missing drop, or leave the column out with --drop 'x y'",
            [
                "train 'a b.csv' --missing drop",
                "train 'a b.csv' --drop 'x y'",
            ],
        ),
        (
            "build m.npz",
            "no data; train it with --epochs 3, or name DATA with --data",
            [
                "",
                "build m.npz --data flowers.csv",
            ],
        ),
        pytest.param(
            "build a.onnx",
            "a.onnx is a network; convert it first: protonn-edge convert a.onnx --data DATA",
            ["convert a.onnx --data flowers.csv"],
            marks=needs("conversion"),
        ),
    ],
)
def test_advice_is_found_in_a_sentence(line: str, sentence: str, lines: list[str]) -> None:
    found = [each.line.removeprefix("protonn-edge ") for each in advised(line, sentence)]
    assert found == lines


def _told(exit_code: int, stdout: str, stderr: str) -> Result:
    """Return what a command printed."""
    out, error = stdout.encode(), stderr.encode()
    return Result(CliRunner(), out, error, out + error, None, exit_code, None)


_TRY = "warning: a forest is better; try --classifier forest, or hold out days with --groups day\n"


@pytest.mark.parametrize(
    ("name", "before", "after", "faults"),
    [
        ("accuracy", (80, 90), (60, 70), 1),
        ("accuracy", (80, 90), (75, 85), 0),
        ("mean absolute error", (1.5, 2.5), (3.5, 4.5), 1),
        ("mean absolute error", (1.5, 2.5), (0.5, 1), 0),
    ],
)
def test_a_worse_figure_is_a_fault_unless_it_is_truer(
    name: str, before: tuple[float, float], after: tuple[float, float], faults: int
) -> None:
    def shell(line: str) -> Result:
        low, high = before if line.endswith(".csv") else after
        said = _TRY * line.endswith(".csv")
        return _told(0, f"{name} {low} on 9 points (95 % confidence: {low} to {high})", said)

    found = follow("train a.csv", shell)
    assert [each.faulty for each in found] == [faults == 1, False]


@pytest.mark.parametrize(("warned", "is_faulty"), [("median", True), ("drop median", False)])
def test_a_warning_of_what_was_filled_as_advised_is_a_fault(warned: str, is_faulty: bool) -> None:
    def shell(line: str) -> Result:
        if "--missing" not in line:
            return _told(2, "", "error: a.csv has gaps; use --missing median\n")
        is_warned = line.rpartition(" ")[2] in warned
        return _told(0, "read\n", "warning: 7 is in many rows; empty these cells\n" * is_warned)

    (found,) = follow("train a.csv", shell)
    assert found.faulty == is_faulty


def test_a_broken_quote_is_refused_by_the_shell() -> None:
    with pytest.raises(AssertionError, match="unexpected EOF"):
        in_shell("protonn-edge data x.csv --keep 'sample")
