"""Each option that is mistyped is suggested; lines as people type them are in `mistyped.txt`."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from command_line import every_command

from protonn_edge.cli import main
from protonn_edge.cli.paths import shown_name
from protonn_edge.system.meant import meant


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
