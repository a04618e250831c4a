"""What a message of the command line advises, and what comes of it.

Advice is what a message names after its first semicolon, or asks about ("did you mean"): options of
a command, with or without a value, and whole commands. Alternatives are advice each. What a message
leaves open, such as NAME or a file of one's own, comes from `OWN`.
"""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import click
from click.testing import Result
from command_line import every_command, run

from protonn_edge.cli.command import BUG_EXIT_CODE

OWN = {  # what people have for an option that a message names without a value
    "--arduino": "own_library",
    "--c": "own_plain",
    "--platformio": "own_platformio",
    "--check": "certificate.json",
    "--cut": "0:20",
    "--data": "flowers.csv",
    "--features": "mean,max",
    "--keep": "0:20",
    "--label": "wave",
    "--model": "model.npz",
    "--normal": "a",
    "--project": "project",
    "--rate": "50",
    "--rejection": "2%",
    "--search": "own.search.jsonl",
    "--sensor": "a0",
    "--take": "1",
    "--unit": "g",
}
PLACEHOLDERS = {"DATA": "flowers.csv", "MODEL": "model.npz", "FOLDER": "own", "PATH": "project"}
_WORD = r"(?:'[^']*'|\"[^\"]*\"|\\.|[,:](?=\w)|[^\s,;:'\"()\\])+"
_OPTION = re.compile(rf"(?<![\w'/-])'?(--[a-z][a-z0-9-]*|-o)(?:[= ]({_WORD}))?")
_COMMAND = re.compile(
    rf"'((?:protonn-edge )?(?:{'|'.join(every_command())})\b[^']*)'|: (protonn-edge (?:{_WORD} ?)+)"
)
_MEANT = re.compile(r"[Dd]id you mean '?([^'?]+)'?\?")
_REMOVED = re.compile(r"\b(omit|leave|without) '?(--[a-z-]+ and )?\Z")
_LEFT_OPEN = re.compile(r"[A-Z]{2,}|HxW|\.\.\.")
_PROSE = re.compile(
    r"(or|and|if|to|for|first|in|too|out|needs|such|with|is|has|again|that|which|as|of|no)\Z"
)
_CHOICE = re.compile(r"\b(?:choose|give)(?: one of)? ('?[\w-]+'?)(?:,| or)")
_REFUSED = re.compile(r"no such option|is not one of|applies only|has no effect")
_FORMER = re.compile(r"(--read|--set) .* is an option of its own now")
_LAST_STOP = re.compile(r"[.,;:)]+\Z")


@dataclass(frozen=True)
class Advice:
    """A command line that a message advises; no line if it leaves something to the user."""

    text: str  # the part of the message
    line: str = ""


@dataclass(frozen=True)
class Followed:
    """What came of one piece of advice."""

    advice: Advice
    came: str  # "works", "another question", "left to the user", or a fault
    faulty: bool = False


def sentences(done: Result) -> list[str]:
    """Return the error of a command that failed, or the remarks of one that did not."""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    if done.exit_code:
        return [re.sub(r"^[Ee]rror: ", "", line) for line in lines[-1:]]
    return [line for line in lines if ";" in line or _MEANT.search(line)]


def advised(line: str, sentence: str) -> Iterator[Advice]:
    """Yield the advice of a sentence that a command line brought."""
    words = shlex.split(line)
    if found := _MEANT.search(sentence):
        yield _meant(words, sentence, found)
        return
    _, mark, clauses = sentence.partition("; ")
    if not mark:
        return
    for part in re.split(
        r"(?:, or,? |; | or (?=--|with --|train|omit|choose|give|use|leave))", clauses
    ):
        for command in _COMMAND.finditer(part):
            yield _whole(command[1] or command[2])
        rest = _COMMAND.sub("", part)
        rest = _named(rest, sentence)
        if former := _FORMER.match(sentence):
            words = _without_former(words, former[1])
        if _OPTION.search(rest):
            yield _changed(words, rest)
        elif chosen := _CHOICE.search(rest):
            yield _replaced(words, sentence, chosen[1])


def _named(part: str, sentence: str) -> str:
    """Return a part of a sentence with the option that 'it' or a limit stands for."""
    if not (first := _OPTION.search(sentence)):
        return part
    part = re.sub(r"\b(omit|leave) it\b", f"omit {first[1]}", part)
    part = re.sub(r"\bgive at most ([\d,.]+)", rf"give {first[1]} \1", part)
    return re.sub(r"(--[a-z-]+)(?: each)?, such as (?=[a-z\d])", r"\1 ", part)


def _replaced(words: Sequence[str], sentence: str, value: str) -> Advice:
    """Return a command line with a value in place of the one that a sentence is about."""
    value = value.strip("'")
    before, _, after = sentence.partition("; ")
    quoted = [*re.findall(r"'([^']+)'", before), *re.findall(r"--[a-z-]+ ([\w-]+)", before)]
    places = [n for each in quoted for n in _places(words, each)]
    if not places or _LEFT_OPEN.search(value):
        return Advice(after)
    place = places[-1]
    wrong = next(each for each in quoted if place in _places(words, each))
    changed = words[place].replace(wrong, value)
    line = shlex.join(["protonn-edge", *words[:place], changed, *words[place + 1 :]])
    return Advice(after[:80], line)


def _meant(words: list[str], sentence: str, found: re.Match[str]) -> Advice:
    """Return a command line with the word that is meant, in place of the one that is not."""
    meant, before = found[1], sentence[: found.start()]
    quoted = [*re.findall(r"--[a-z-]+ ([\w-]+)", before), *re.findall(r"'([^']+)'", before)]
    places = [(n, each) for each in reversed(quoted) for n in _places(words, each)]
    if not places:
        return Advice(found[0])
    place, wrong = places[0]
    changed = [*words[:place], words[place].replace(wrong, meant), *words[place + 1 :]]
    return Advice(found[0], shlex.join(["protonn-edge", *changed]))


def _places(words: Sequence[str], part: str) -> list[int]:
    """Return which words are a part of a sentence, or have it as one of their values."""
    return [n for n, word in enumerate(words) if part == word or part in re.split("[=,:]", word)]


def _whole(text: str) -> Advice:
    """Return a command that a message advises; what is left open comes from what people have."""
    words = shlex.split(text.removeprefix("protonn-edge "))
    flags = [word.partition("=")[0] for word in words[1:] if word.startswith("-")]
    if unknown := [flag for flag in flags if _parameter(words[0], flag) is None]:
        return Advice(text, f"protonn-edge {words[0]} {unknown[0]}")  # which fails
    if not text.startswith("protonn-edge ") or len(words) < 2:
        return Advice(text)
    words = text.split()
    filled = " ".join(PLACEHOLDERS.get(word, word) for word in words)
    return Advice(text, "" if _LEFT_OPEN.search(filled) else filled)


def _changed(words: list[str], part: str) -> Advice:
    """Return a command line with the options that a part of a sentence names."""
    name, kept, added = words[0], words[1:], ""
    for found in _OPTION.finditer(part):
        flag, value = found[1], _LAST_STOP.sub("", found[2] or "")
        if value.count("'") % 2:
            value = value.rstrip("'")
        parameter = _parameter(name, flag)
        if parameter is None:
            other = next((each for each in every_command() if _parameter(each, flag)), None)
            if other is None:
                return Advice(part, f"protonn-edge {name} {flag}")  # which fails
            return Advice(part)
        if _REMOVED.search(part[: found.start()]):
            kept = _without(kept, parameter)
            continue
        if parameter.is_flag:
            added += f" {flag}"
            continue
        if not value or _PROSE.match(value) or _LEFT_OPEN.search(value):
            value = shlex.quote(OWN[flag]) if flag in OWN else ""
        if not value:
            return Advice(part)
        if not parameter.multiple:
            kept = _without(kept, parameter)
        added += f" {flag} {value}"
    few = " --minutes 0.02" * ("--classifier best" in added)  # it takes five by default
    return Advice(part, f"protonn-edge {shlex.join([name, *kept])}{added}{few}")


def _parameter(command: str, flag: str) -> click.Option | None:
    params = every_command()[command].params if command in every_command() else []
    for each in params:
        if isinstance(each, click.Option) and flag in (*each.opts, *each.secondary_opts):
            return each
    return None


def _without(words: Sequence[str], parameter: click.Option) -> list[str]:
    kept, left = list[str](), 0
    for word in words:
        if left:
            left -= 1
        elif word.partition("=")[0] in (*parameter.opts, *parameter.secondary_opts):
            left = 0 if parameter.is_flag or "=" in word else 1
        else:
            kept.append(word)
    return kept


def _without_former(words: Sequence[str], flag: str) -> list[str]:
    """Return the words without the first option of this name, and its value."""
    if flag not in words:
        return [*words]
    place = words.index(flag)
    return [*words[:place], *words[place + 2 :]]


Shell = Callable[[str], Result]


def in_shell(line: str) -> Result:
    """Run a command line, whose words a shell parts, in this process."""
    script = f'protonn-edge() {{ printf "%s\\0" "$@"; }}; {line}'
    parted = subprocess.run(
        ["bash", "-c", script], check=False, capture_output=True, text=True, timeout=60
    )
    assert parted.returncode == 0, f"{line}: {parted.stderr}"
    words = parted.stdout.split("\0")[:-1]
    with _interrupted() if words[:1] == ["emulate"] else nullcontext():
        return run(*words)


@contextmanager
def _interrupted() -> Iterator[None]:
    """Press Ctrl-C, until which an emulated board runs, after some seconds."""
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(15)
    try:
        yield
    finally:
        signal.alarm(0)


def follow(line: str, shell: Shell = in_shell, deep: int = 3) -> list[Followed]:
    """Run a command line, and all that its message advises, each as far as it leads."""
    with _clearing():
        done = shell(f"protonn-edge {line}")
        if done.exit_code == BUG_EXIT_CODE:
            return [Followed(Advice("", line), "a bug", faulty=True)]
        found = sentences(done)
    every = [(said, each) for said in found for each in advised(line, said)]
    return [_followed(each, [said], shell, deep) for said, each in every]


def _followed(advice: Advice, said: list[str], shell: Shell, deep: int) -> Followed:
    if not advice.line:
        return Followed(advice, "left to the user")
    with _clearing():
        try:
            done = shell(advice.line)
        except AssertionError as error:
            return Followed(advice, f"no command line for a shell: {error}", faulty=True)
    new = sentences(done)
    if fault := _fault(done, new, said):
        return Followed(advice, fault, faulty=True)
    if not done.exit_code:
        return Followed(advice, "works")
    for following in advised(advice.line.removeprefix("protonn-edge "), new[0]) if deep else ():
        came = _followed(following, [*said, new[0]], shell, deep - 1)
        if came.faulty:
            return Followed(advice, f"leads to {came.advice.line}: {came.came}", faulty=True)
    return Followed(advice, f"another question: {new[0]}")


def _fault(done: Result, new: Sequence[str], said: Sequence[str]) -> str:
    """Return why a command that was advised should not have been, or ""."""
    if done.exit_code == BUG_EXIT_CODE:
        return "a bug"
    if repeated := {*new} & {*said}:
        return f"says the same again: {min(repeated)}"
    if done.exit_code and not new:
        return f"fails without a word: {done.output}"
    if done.exit_code and _REFUSED.search(new[0]):
        return f"is refused: {new[0]}"
    return ""


@contextmanager
def _clearing() -> Iterator[None]:
    """Remove what is made meanwhile, from the current folder."""
    before = {*Path().iterdir()}
    try:
        yield
    finally:
        for path in {*Path().iterdir()} - before:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
