"""The former notation of options, ``--read NAME=VALUE`` and ``--set NAME=VALUE``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import click

from protonn_edge.system.shell import command_line

_NOT = ("false", "no", "off", "0", "f", "n")  # as click reads a truth value
_FORMER = {"--read": "drop", "--set": "classifier"}  # a parameter of the commands that had it


def in_its_place(flag: str, args: Sequence[str], params: Sequence[click.Parameter]) -> str | None:
    """Return the sentence about a former option of a command line, or None for another one."""
    named = {str(param.name): param for param in params if isinstance(param, click.Option)}
    if _FORMER.get(flag) not in named:
        return None
    given = next((word for word in args if word.startswith(f"{flag}=")), f"{flag}=")
    text = given.removeprefix(f"{flag}=") or dict(pairwise(args)).get(flag, "")
    name, _, value = text.partition("=")
    param = _param(name, named)
    if param is None:
        return f"{command_line([flag, text])} is no option; give the option --NAME VALUE"
    said = f"{command_line([flag, text])} is an option of its own now"
    if value.lower() == "none" and not _takes(param, value):
        return f"{said}; omit {param.opts[0]} for none"
    return f"{said}; give {command_line(_words(param, value, named))}"


def _param(name: str, named: Mapping[str, click.Option]) -> click.Option | None:
    flag = f"--{name.replace('_', '-')}"
    with_flag = (param for param in named.values() if flag in param.opts)
    return named.get(name.replace("-", "_")) or next(with_flag, None)


def _takes(param: click.Option, value: str) -> bool:
    try:
        param.type.convert(value, param, None)
    except click.BadParameter:
        return False
    return True


def _words(param: click.Option, value: str, named: Mapping[str, click.Option]) -> list[str]:
    """Return an option with a value; the share of a flag is an option of its own."""
    if not param.is_flag:
        return [param.opts[0], value or "VALUE"]
    if value.lower() in _NOT and param.secondary_opts:
        return param.secondary_opts[:1]
    share = f"{param.opts[0]}-share"
    has_share = any(share in each.opts for each in named.values())
    is_share = has_share and value.replace(".", "", 1).isdigit() and value != "1"
    return [share, value] if is_share else param.opts[:1]
