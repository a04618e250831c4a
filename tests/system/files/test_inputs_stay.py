"""What a command reads is never written over."""

from __future__ import annotations

import os
from pathlib import Path

import click
import extension_parts
import pytest
from command_line import assert_one_sentence, every_command, run, succeed
from extension_parts import needs
from model_factory import random_model
from refusals import refused_by

from protonn_edge.cli.paths import NameOrPath, OutputFile, check_paths
from protonn_edge.model.file import save_model
from protonn_edge.system.errors import InputError

ROWS = "label,a,b\n" + "".join(f"{'xy'[i % 2]},{i},{i % 3}\n" for i in range(12))


def is_output(parameter: click.Parameter) -> bool:
    return isinstance(parameter.type, OutputFile) or "-o" in parameter.opts


PAIRS = [
    pytest.param(command, read, written, id=f"{name}-{read.name}-{written.name}")
    for name, command in sorted(every_command().items())
    for written in command.params
    if is_output(written)
    for read in command.params
    if isinstance(read.type, click.Path | NameOrPath) and not is_output(read)
]


@needs("sensing")
def test_every_option_o_is_among_the_outputs() -> None:
    assert {param.id.split("-")[0] for param in PAIRS} >= {
        *("build", "convert", "hil", "report", "train", "tune", "windows"),
    }


@pytest.mark.parametrize(("command", "read", "written"), PAIRS)
@pytest.mark.parametrize("alias", ["same", "link", "hard_link", "relative"])
def test_no_command_writes_over_what_it_reads(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: click.Command,
    read: click.Parameter,
    written: click.Parameter,
    alias: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    original, output = tmp_path / "file.npz", tmp_path / f"{alias}.npz"
    original.write_bytes(b"mine")
    if alias == "link":
        output.symlink_to(original)
    elif alias == "hard_link":
        os.link(original, output)
    else:
        output = {"same": original, "relative": Path("file.npz")}[alias]
    given = (original,) if read.nargs == -1 or read.multiple else original  # type: ignore[attr-defined]
    with refused_by("cli.paths"):
        check_paths(command, {str(read.name): given, str(written.name): output})


def test_a_tilde_that_the_shell_leaves_is_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``--output=~/o.csv`` made a folder called ~ in the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert OutputFile().convert("~/o.csv", None, None) == Path("~/o.csv").expanduser()
    assert OutputFile().convert("./~/o.csv", None, None) == Path("./~/o.csv")


def test_an_output_replaces_an_earlier_one_also_with_many_columns(tmp_path: Path) -> None:
    names = ",".join(f"feature_{number}" for number in range(1000))
    path = tmp_path / "answers.csv"
    path.write_text(f"{names},predicted_class\n")
    check_paths(every_command()["predict"], {"output": path})


@extension_parts.needs("conversion")
def test_a_folder_of_matrices_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    model = tmp_path / "m.npz"
    save_model(random_model(), model)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "W").write_text("my notes")
    assert_one_sentence(
        run("convert", model, "-o", tmp_path / "folder"), "not part of a complete model"
    )
    assert (tmp_path / "folder" / "W").read_text() == "my notes"
    for _ in range(2):
        succeed("convert", model, "-o", tmp_path / "new")


def test_the_demo_leaves_a_model_of_ones_own_alone(tmp_path: Path) -> None:
    save_model(random_model(), tmp_path / "model.npz")
    before = (tmp_path / "model.npz").read_bytes()
    assert_one_sentence(run("demo", "-o", tmp_path), "was not written by 'demo'")
    assert (tmp_path / "model.npz").read_bytes() == before


def test_a_device_name_does_not_take_the_place_of_another_link(tmp_path: Path) -> None:
    from protonn_edge.cli.emulate import _linked

    (tmp_path / "data.csv").write_text(ROWS)
    link = tmp_path / "link"
    link.symlink_to("data.csv")
    with pytest.raises(InputError, match="is already a link to"), _linked(link, "/dev/pts/9"):
        pass
    assert link.read_text() == ROWS
