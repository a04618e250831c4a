"""What a text names exists: commands, options, pages, boards, sensors, kinds, settings.

The texts are the lines of pages, the help of commands, and sentences about wrong input. Blocks of
commands are run by `test_blocks`, which does not read the text around them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from pathlib import Path

import click
import pytest
from checkout import CHECKOUT
from command_line import every_command, run
from doc_blocks import PAGES, skip_without_extensions
from extension_parts import additions
from markdown_it import MarkdownIt

from protonn_edge.chips.boards import export_board_names
from protonn_edge.cli import COMMANDS
from protonn_edge.model.registry import KINDS

_READER = MarkdownIt("commonmark").enable("table")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
_DECLARED = re.compile(r"""(?:option|add_argument)\(\s*["'](--[a-z][a-z0-9-]*)["' /=]""")
_OTHERS = {"--help", "--hypothesis-profile", "--hypothesis-seed", "--lg-env"}  # of pytest
_COMMAND = re.compile(r"(?:^|['`])protonn-edge ([a-z]+)\b")
_FIRST = re.compile(r"(?:protonn-edge )?([a-z]+) (?:\S+ )*?--")
_PROGRAMS = {"python", "pytest", "make"}
_OTHER_PROGRAM = re.compile(r"\S*python\S* -m |xcode-select |arduino-cli ")
_IN_QUOTES = re.compile(r"(?<!\w)'([^']*)'(?!\w)")
_VALUE = r"[ =]([a-z][a-z0-9_-]*)(?![\w.{/]|, ?\.\.)"
_LONE_NAME = re.compile(r"`([a-z][a-z0-9-]*)`")


def inline_tokens(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each paragraph, item or cell of a page, and the code in it."""
    for token in _READER.parse(text):
        if token.type == "inline":
            code = [each.content for each in token.children or () if each.type == "code_inline"]
            yield token.content, code


def quoted(text: str) -> list[str]:
    """Return the commands in quotes in a line."""
    return [each for each in _IN_QUOTES.findall(text) if " --" in each]


def text_of(page: Path) -> tuple[str, list[str]]:
    """Return the code in a page; its text names other things, too."""
    return "", [code for _, each in inline_tokens(page.read_text("utf-8")) for code in each]


def text_of_help(name: str) -> tuple[str, list[str]]:
    """Return the help of a command, and the code in it."""
    text = run(name, "--help").stdout
    return text, quoted(" ".join(text.split()))


def listed_sentences() -> tuple[str, list[str]]:
    """Return all sentences about wrong input, and the code in them."""
    text = (CHECKOUT / "tests" / "laws" / "sentences" / "sentences.txt").read_text("utf-8")
    return text, [code for line in text.splitlines() for code in quoted(line)]


TEXTS: dict[str, Callable[[], tuple[str, list[str]]]] = {
    **{page.name: partial(text_of, page) for page in PAGES},
    **{f"{name} --help": partial(text_of_help, name) for name in COMMANDS},
    "sentences": listed_sentences,
}
"""What reads a text, and the code in it, by where it is."""


def options_of(command: click.Command) -> set[str]:
    """Return the options of a command."""
    return {name for each in command.params for name in (*each.opts, *each.secondary_opts)}


@cache
def options() -> set[str]:
    """Return the options of all commands, of scripts, and of the plugin of pytest."""
    own = {name for each in every_command().values() for name in options_of(each)}
    plugins = (CHECKOUT / "protonn_edge" / "extensions").rglob("pytest_plugin.py")
    scripts = [*plugins, *(CHECKOUT / "benchmarks").glob("*.py")]
    scripts += (CHECKOUT / "tests").rglob("*.py")
    others = (each for path in scripts for each in _DECLARED.findall(path.read_text("utf-8")))
    return {*own, *others, *_OTHERS}


VALUES: dict[str, Callable[[str], bool]] = {
    "board": {*export_board_names()}.__contains__,
    **additions("values of options"),
    "classifier": {*KINDS, "any", "best"}.__contains__,
}


def unknown(text: str, codes: Collection[str] = ()) -> Iterator[str]:
    """Yield what a text, and pieces of code, name that does not exist."""
    codes = [code for code in codes if not _OTHER_PROGRAM.match(code)]
    for each in (text, *codes):
        yield from (name for name in _OPTION.findall(each) if name not in options())
        yield from (name for name in _COMMAND.findall(each) if name not in every_command())
        pages = re.findall(r"\bdocs/[a-z0-9-]+\.md\b", each)
        yield from (page for page in pages if not (CHECKOUT / page).is_file())
    for code in codes:
        first = _FIRST.match(code)
        if first and first[1] in every_command():
            own = {*options_of(every_command()[first[1]]), "--help"}
            yield from (name for name in _OPTION.findall(code) if name not in own)
        elif first and first[1] not in _PROGRAMS:
            yield first[1]
        for option, exists in VALUES.items():
            values = re.findall(f"--{option}{_VALUE}", code)
            yield from (f"--{option} {value}" for value in values if not exists(value))


def unknown_boards(page: str) -> Iterator[str]:
    """Yield the names that an item about boards gives to no board."""
    for text, _ in inline_tokens(page):
        if text.startswith("**Boards**"):
            names = _LONE_NAME.findall(text)
            yield from (name for name in names if not VALUES["board"](name))


@pytest.mark.parametrize("place", TEXTS)
def test_what_a_text_names_exists(place: str) -> None:
    skip_without_extensions()
    assert not [*unknown(*TEXTS[place]())]


def test_boards_that_pages_name_exist() -> None:
    assert not [name for page in PAGES for name in unknown_boards(page.read_text("utf-8"))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("build --board host", ["--board host"]),
        *additions("values that do not exist").items(),
        ("train --classifier bayes", ["--classifier bayes"]),
        ("train --lable x", ["--lable", "--lable"]),
        ("train --hop 3", ["--hop"]),
        ("--partial 3", ["--partial"]),
        ("split --test 0.2", ["split"]),
        ("protonn-edge split", ["split"]),
        ("see docs/split.md", ["docs/split.md"]),
    ],
)
def test_what_does_not_exist_is_found(text: str, found: list[str]) -> None:
    skip_without_extensions()
    assert [*unknown("", [text])] == found
    assert quoted(f"the model's 'x': run '{text} --json'") == [f"{text} --json"]
    assert [*unknown_boards("- **Boards**: `uno` and `host`")] == ["host"]
