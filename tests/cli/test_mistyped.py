"""A mistyped command line is one sentence, which says what to type instead.

`mistyped.txt` has command lines as people mistype them; the law below mistypes each option.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from command_line import every_command, run, skip_unless_known
from model_factory import random_model

from protonn_edge.cli import main
from protonn_edge.cli.paths import shown_name
from protonn_edge.model.file import save_model
from protonn_edge.system.meant import meant

LINES = (Path(__file__).parent / "mistyped.txt").read_text("utf-8").splitlines()
ROWS = [line.partition(" -> ")[::2] for line in LINES if " -> " in line]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a table and a model."""
    made = tmp_path_factory.mktemp("mistyped")
    rows = [f"{'xy'[row % 2]},{row},{row % 3}\n" for row in range(20)]
    (made / "iris.csv").write_text("kind,a,b\n" + "".join(rows))
    (made / "r.csv").write_text("kind,a,b\n")
    save_model(random_model(features=2, classes=2), made / "m.npz")
    return made


@pytest.mark.parametrize(("line", "said"), ROWS, ids=[line for line, _ in ROWS])
def test_the_sentence_says_what_to_type(
    line: str, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    words = shlex.split(line)
    if "--sensor" in words or words[0] == "windows":  # of an extension
        skip_unless_known(words)
    done = run(*words)
    (sentence,) = done.stderr.splitlines()
    assert done.exit_code == 2
    assert sentence.startswith("error: ")
    assert said in sentence
    assert not (folder / "m2.npz").exists()


def mistyped(flag: str) -> Iterator[str]:
    """Yield an option without its last letter, with two letters swapped, one doubled, and so on."""
    middle = len(flag) // 2
    yield flag[:-1]
    yield flag[:middle] + flag[middle + 1] + flag[middle] + flag[middle + 2 :]
    yield flag[:middle] + flag[middle] + flag[middle:]
    yield flag.replace("-", "_").replace("__", "--", 1)
    yield flag.upper()


@pytest.mark.parametrize("name", every_command())
def test_a_mistyped_option_is_suggested(name: str) -> None:
    command = every_command()[name]
    known = {flag for each in command.params for flag in (*each.opts, *each.secondary_opts)}
    others = {shown_name(each).lower() for each in command.params}
    others |= {name for each in command.params for name in getattr(each, "also", ())}
    long = [flag for flag in known if flag.startswith("--") and len(flag) > len("--abcd")]
    for flag in sorted(long):
        for typed in {*mistyped(flag)} - {*known, *(f"--{other}" for other in others)}:
            with pytest.raises(click.UsageError) as refused:
                command.make_context(name, [typed], parent=click.Context(main))
            assert repr(flag) in str(refused.value), (typed, str(refused.value))


@pytest.mark.parametrize(
    ("word", "names", "found"),
    [
        ("", ["epochs"], []),
        ("x", ["xylophone"], []),
        ("EPOCHS", ["epochs"], ["epochs"]),
        ("depth", ["max-depth", "deep"], ["max-depth"]),
        ("bs", ["batch-size", "bits"], ["batch-size"]),
        ("random-forest", ["linear", "forest"], ["forest"]),
        ("quite-another", ["epochs"], []),
    ],
)
def test_what_a_word_may_mean(word: str, names: list[str], found: list[str]) -> None:
    assert meant(word, names) == found
