"""The skill: what it tells agents to run works, and what it names exists."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from avr_tools import needs_avr_gcc, needs_emulated_avr
from command_line import assert_one_sentence, every_command, run, run_json, succeed
from sklearn.datasets import load_digits

from protonn_edge.extensions import agents
from protonn_edge.learn.base import CLASSIFIERS

SKILL = (Path(str(agents.__file__)).parent / "SKILL.md").read_text("utf-8")
COMMANDS = re.findall(r"^protonn-edge (.*)$", SKILL, re.M)
REPORTED = SKILL.partition("## Report to the user")[2].partition("## Limits")[0]


def test_it_is_printed() -> None:
    assert succeed("skill").stdout.rstrip() == SKILL.rstrip()


def test_it_is_installed_and_replaces_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "skills" / "protonn-edge" / "SKILL.md"
    for _ in range(2):
        assert run_json("skill", "-o", tmp_path / "skills")["path"] == str(path)
        assert path.read_text("utf-8") == SKILL
    path.write_text("---\nname: mine\n")
    assert_one_sentence(run("skill", "-o", tmp_path / "skills"), "another skill")
    assert path.read_text("utf-8") == "---\nname: mine\n"


def test_its_head_is_what_agents_read_first() -> None:
    head = re.match(r"---\nname: ([a-z-]+)\ndescription: (.+)\n---\n", SKILL)
    assert head is not None
    assert head[1] == "protonn-edge"
    assert len(head[2]) <= 1024
    assert len(SKILL.splitlines()) < 100


def test_all_options_and_commands_that_it_names_exist() -> None:
    commands = every_command()
    options = {flag for each in commands.values() for param in each.params for flag in param.opts}
    named = {*re.findall(r"--[a-z][a-z-]*", SKILL)} - {"--help"}
    assert named <= options
    assert {*re.findall(r"(?:^|`)protonn-edge ([a-z]+)", SKILL, re.M)} <= commands.keys()


REMEDIES = {
    kind: command
    for kinds, command in re.findall(r"^\| (`[a-z`, -]+`) \| `(--.+)` \|$", SKILL, re.M)
    for kind in re.findall(r"`([a-z-]+)`", kinds)
}
IMAGES = ("--image-shape", "8x8", "--features", "conv:4x3,max2", "--augment", "--epochs", "2")
QUICK = {"basis-images": (*IMAGES, "--teacher-epochs", "1"), "dense": ("--epochs", "5")}
LIMITS = (9_000, 4_800, 4_500, 3_000)  # bytes of flash; the first that refuses a model counts


def fits(*build: object) -> bool:
    """Return whether firmware is built; it may be refused only because it does not fit."""
    record = json.loads(run(*build, "--json").stdout)
    assert record["ok"] is record["fits"], record
    return bool(record["fits"])


def test_every_kind_has_a_remedy() -> None:
    assert REMEDIES.keys() == CLASSIFIERS.keys()


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("digits") / "digits.csv"
    X, y = load_digits(return_X_y=True)
    rows = [
        ",".join([f"d{label}", *(f"{value:g}" for value in row)])
        for row, label in zip(X, y, strict=True)
    ]
    path.write_text("\n".join([",".join(["label", *map(str, range(64))]), *rows[:600], ""]))
    return path


@needs_avr_gcc
@pytest.mark.parametrize("kind", REMEDIES)
def test_a_model_that_does_not_fit_fits_with_the_remedy_of_its_kind(
    kind: str, digits: Path, tmp_path: Path
) -> None:
    train = ("train", digits, "-o", tmp_path / "m.npz", "--classifier", kind, *QUICK.get(kind, ()))
    build = ("build", tmp_path / "m.npz", "-o", tmp_path / "firmware", "--no-try")
    succeed(*train)
    limit = next(each for each in LIMITS if not fits(*build, "--max-flash", each))
    succeed(*train, *shlex.split(REMEDIES[kind]))
    assert fits(*build, "--max-flash", limit)


def entries(record: Any, place: str = "") -> Iterator[str]:
    """Yield the names of all entries, those of entries with a dot."""
    for name, value in record.items() if isinstance(record, dict) else ():
        yield place + name
        yield from entries(value, f"{place}{name}.")


@needs_emulated_avr
def test_its_commands_work_and_print_what_it_names(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    found = set[str]()
    for line in COMMANDS:
        done = succeed(*shlex.split(line), "--json")
        record = json.loads(done.stdout)
        assert record["ok"], line
        found |= {*entries(record)}
    assert (folder / "Name" / "library.properties").is_file()
    named = {*re.findall(r"`([a-z_]+(?:\.[a-z_]+)*)`", REPORTED)} - every_command().keys()
    assert len(named) > 10
    assert named <= found
