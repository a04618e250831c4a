"""A command line that cannot be read, in one sentence with what is meant.

Click knows what is wrong; here is what to type instead: options, arguments and commands that are
called alike, or stand in another place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import click

from protonn_edge.cli.paths import OutputFile
from protonn_edge.system.meant import did_you_mean, meant
from protonn_edge.system.shell import command_line

_ALIKE = 0.75  # of an unknown option to the one that is meant, as `difflib` counts
_NOT_OF_TYPE = {"integer range": "whole number", "integer": "whole number", "float range": "number"}
_OF_CLICK = re.compile("No such|Missing|Invalid|Got|Option|Argument|Could")
_OF_PROGRAM = ("help", "version")  # options of the program, which are no commands
_DASHES = "\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}"


def sentence_of(error: click.ClickException) -> str:
    """Return the message of click as the beginning of a sentence."""
    # without click's own guesses
    said = error.message if isinstance(error, click.NoSuchOption) else error.format_message()
    said = " ".join(said.split())
    said = said if said.endswith("...") else said.removesuffix(".")
    for name, noun in _NOT_OF_TYPE.items():
        said = said.replace(f"is not a valid {name}", f"is not a {noun}")
    chosen = re.search(r"'([^']+)' is not one of ('[^;]+)$", said)
    if chosen:
        said += did_you_mean(chosen[1], re.findall(r"'([^']+)'", chosen[2]))
    return said[0].lower() + said[1:] if _OF_CLICK.match(said) else said


def explained(
    error: click.UsageError, ctx: click.Context, words: Sequence[str], examples: Sequence[str]
) -> str:
    """Return the sentence about the words of a command that cannot be read."""
    said = sentence_of(error)
    if isinstance(error, click.NoSuchOption):
        return _of_option(error.option_name, said, ctx, words)
    others = _left_over(ctx, words)
    if isinstance(error, click.MissingParameter) and error.param is not None:
        example = f", as in: protonn-edge {ctx.info_name} {examples[0]}" if examples else ""
        is_output = "-o" in error.param.opts
        file = next((word for word in others if "." in word), "") if is_output else ""
        return f"{said}; give {command_line(['-o', file])}" if file else f"{said}; give it{example}"
    if isinstance(error, click.BadOptionUsage) and error.option_name:
        return f"{said}; give {error.option_name} and its value"
    if said.startswith("got unexpected extra"):
        return f"{said}{_of_words(others, ctx.command) if others else ''}"
    return said


def _of_option(flag: str, said: str, ctx: click.Context, words: Sequence[str]) -> str:
    if not flag.startswith("--"):  # click reads -epochs as -e -p ...
        flag = next((word for word in words if word.startswith(flag)), flag).partition("=")[0]
        said = f"no such option {flag!r}"
    name = flag.strip("-").replace("_", "-")
    for param in ctx.command.params:
        if isinstance(param, click.Argument) and name in _names_of(param):
            shown = param.human_readable_name.strip("[]")
            return f"{said}; give {shown} without {flag}"
    return said + _near(name, ctx.command)


def _names_of(param: click.Parameter) -> list[str]:
    """Return what users may call an option or an argument: also its name in Python."""
    names = [each.removeprefix("--") for each in param.opts if each.startswith("--")]
    if isinstance(param, click.Argument):
        names = [param.human_readable_name.strip("[]").lower()]
    return [*names, str(param.name).replace("_", "-"), *getattr(param, "also", ())]


def _options(command: click.Command) -> Mapping[str, str]:
    """Return the options of a command by what users may call them."""
    options = [each for each in command.params if isinstance(each, click.Option)]
    named = {name: each.opts[-1] for each in options for name in _names_of(each)}
    return named | {opt[2:]: opt for each in options for opt in each.secondary_opts}


def _near(name: str, command: click.Command) -> str:
    named = _options(command)
    found = dict.fromkeys(named[each] for each in meant(name, named, alike=_ALIKE))
    if not found:
        return f"; see 'protonn-edge {command.name} --help'"
    return f"; did you mean {' or '.join(map(repr, found))}?"


def _left_over(ctx: click.Context, words: Sequence[str]) -> list[str]:
    """Return the words that are neither options nor arguments."""
    try:
        return ctx.command.make_parser(ctx).parse_args([*words])[1]
    except click.UsageError:
        return []


def _of_words(words: Sequence[str], command: click.Command) -> str:
    """Return what to give in place of words that are no arguments."""
    word = words[0]
    name, equals, value = word.strip(f"-{_DASHES}").partition("=")
    flag = _options(command).get(name, "")
    if flag and (equals or word[0] in _DASHES):
        return f"; give {command_line([flag, value] if equals else [flag, *words[1:2]])}"
    for param in command.params:
        file = isinstance(param.type, OutputFile) and "." in word
        folder = isinstance(param.type, click.Path) and not param.type.file_okay
        writes = "-o" in param.opts or word.endswith(param.opts[0].replace("--", "."))
        if isinstance(param, click.Option) and writes and (file or folder):
            return f"; omit it or, for what is written, give {command_line([param.opts[0], word])}"
    return "; omit it"


def of_command(words: Sequence[str], commands: Mapping[str, str]) -> str:
    """Return the sentence about words that do not begin with one of these commands.

    The commands have a purpose each.
    """
    word = words[0]
    said = f"no such {'option' if word.startswith('-') else 'command'} {word!r}"
    if (option := word.lower().strip("-")) in _OF_PROGRAM:
        others = [each for each in words[1:] if each in commands][:1]
        return f"{said}; give {command_line(['protonn-edge', *others, f'--{option}'])}"
    if named := next((each for each in words if each in commands), ""):
        rest = [each for each in words if each != named]
        return f"{said}; give the command first: {command_line(['protonn-edge', named, *rest])}"
    is_option = word.startswith("-")
    names = [f"--{each}" for each in _OF_PROGRAM] if is_option else commands
    if near := did_you_mean(word, names):
        return said + near
    for name, purpose in commands.items():
        if word.lower() in purpose.lower().split():
            return f"{said}; did you mean {name!r}?"
    return f"{said}; 'protonn-edge --help' lists all commands"
