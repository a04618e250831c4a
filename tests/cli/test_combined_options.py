"""An option that would have no effect is refused, and so are options that contradict each other."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import click
import pytest
from command_line import every_command, refusal, run
from refusals import refuses

from protonn_edge.cli.command import Command
from protonn_edge.cli.paths import shown_name
from protonn_edge.codegen.export.folder import write_folder
from protonn_edge.system.extensions import extensions

COMMANDS = {name: each for name, each in every_command().items() if isinstance(each, Command)}
VALUES = {
    "--library": "name=x",
    "--max-flash": "9kB",
    "--max-sram": "9kB",
    "--size": "9x9",
    "--rejection": "1%",
    "--trigger": "auto",
    "--points": "99",
    "--keep": "1:2",
    "--cut": "1:2",
    "--pass-on": "1%",
    "--votes": "3",
    "--mark": "50",
}
Case = tuple[str, tuple[str, ...], str]


def params_of(command: str) -> dict[str, click.Parameter]:
    """Return the parameters of a command by each of their flags."""
    return {flag: param for param in COMMANDS[command].params for flag in param.opts}


def words_of(command: str, flag: str) -> list[str]:
    """Return an option, perhaps with the value after "=", with a value that can be parsed."""
    name, _, value = flag.partition("=")
    param = params_of(command)[name]
    if isinstance(param, click.Argument):
        return ["a.npz"]
    assert isinstance(param, click.Option)
    kind = param.type
    if param.is_flag or value:
        return [flag]
    if isinstance(kind, click.Choice):
        return [name, str(kind.choices[0])]
    number = isinstance(kind, click.types.FloatParamType | click.types.IntParamType)
    return [name, VALUES.get(name, "7" if number else "x")]


def is_there(command: str, flags: tuple[str, ...], others: str) -> bool:
    """Return whether a row is of options that the command has, or that it should have."""
    names = {flag.partition("=")[0] for flag in (*flags, *others.split())}
    return names <= params_of(command).keys() or bool(extensions())


def needed(command: str) -> list[Case]:
    rows = COMMANDS[command].needs.items()
    cases = [(command, (flag,), others) for flags, others in rows for flag in flags.split()]
    return [case for case in cases if is_there(*case)]


def apart(command: str) -> list[Case]:
    rows = COMMANDS[command].apart.items()
    pairs = [product(flags.split(), others.split()) for flags, others in rows]
    cases = [(command, pair, "") for each in pairs for pair in each]
    return [case for case in cases if is_there(*case)]


CASES = [case for name in COMMANDS for case in (*needed(name), *apart(name))]


def test_many_options_need_others() -> None:
    assert len(CASES) > (60 if extensions() else 30)


@pytest.mark.parametrize(("command", "flags", "others"), CASES, ids=str)
def test_combinations_without_meaning_are_refused(
    command: str, flags: tuple[str, ...], others: str
) -> None:
    words = [command]
    for param in COMMANDS[command].params:
        if param.required and not set(param.opts) & set(flags):
            words += ["a.npz"] if isinstance(param, click.Argument) else [param.opts[0], "5"]
    # What the options themselves need is given, so that only their combination can be at fault.
    given = list(flags)
    for flag in given:
        for keys, values in COMMANDS[command].needs.items():
            known = {*given, *others.split()}
            if flag in keys.split() and not known & set(values.split()):
                given.append(values.split()[0])
    for flag in given:
        words += words_of(command, flag)
    done = run(*words)
    said = refusal(done)
    shown = {flag: shown_name(param) for flag, param in params_of(command).items()}
    if others:
        needed = " or ".join(shown.get(each, each) for each in others.split())
        assert f"error: {flags[0]} works only with {needed}; give {needed}, too" in said
    else:
        both = " and ".join(shown.get(each, each) for each in flags)
        assert f"{both} cannot be used together; give only one of them" in said


def dead_ends() -> list[tuple[str, str, str]]:
    """Return options that work only with others, and one that cannot be used with these."""
    pairs = {(name, *each) for name, flags, _ in CASES for each in (flags, flags[::-1])}
    return [
        (name, flag, other)
        for name, (flag, *more), others in CASES
        if not more
        for other in params_of(name)
        if all((name, other, each) in pairs for each in others.split())
    ]


@pytest.mark.parametrize(("command", "flag", "other"), dead_ends(), ids=str)
def test_an_option_that_cannot_be_used_is_not_advised(command: str, flag: str, other: str) -> None:
    words = [command]
    for name, param in params_of(command).items():
        if param.required or name in (flag, other):
            words += words_of(command, name)
    sentence = refusal(run(*words))
    assert f"; omit {flag}" in sentence or "cannot be used together" in sentence


@pytest.mark.parametrize("command", COMMANDS)
def test_the_rows_name_options_of_the_command(command: str) -> None:
    rows = (*COMMANDS[command].needs.items(), *COMMANDS[command].apart.items())
    flags = [flag for row in rows for flags in row for flag in flags.split()]
    for flag in [flag for flag in flags if is_there(command, (flag,), "")]:
        name, _, value = flag.partition("=")
        kind = params_of(command)[name].type
        assert not (value and isinstance(kind, click.Choice)) or value in kind.choices


def test_a_value_that_is_the_default_is_not_a_combination() -> None:
    done = run("train", "absent.npz", "-o", "m.npz", "--classifier", "protonn", "--rejection", "2%")
    assert "absent.npz does not exist" in done.stderr


def test_settings_that_a_program_or_a_library_does_not_have_are_refused(tmp_path: Path) -> None:
    elf = tmp_path / "firmware.elf"
    elf.write_bytes(b"")
    refuses(run("verify", elf, "--points", 99), "extensions.proof.commands.certify")
    write_folder(tmp_path / "library", {"src/pnn_model.c": ""})
    refuses(
        run("verify", tmp_path / "library", "--entry", "main"), "extensions.proof.commands.certify"
    )
