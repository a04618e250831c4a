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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

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
    rf"'((?:protonn-edge )?(?:{'|'.join(every_command())})\b[^']*|protonn-edge --[^']*)'"
    rf"|(?:: |give )(protonn-edge (?:{_WORD} ?)+)"
)
_MEANT = re.compile(r"[Dd]id you mean '?([^'?]+)'?\?")
_REMOVED = re.compile(r"\b(omit|leave|without) '?(--[a-z-]+ and )?\Z")
_LEFT_OPEN = re.compile(r"[A-Z]{2,}|HxW|\.\.\.")
_PROSE = re.compile(
    r"(or|and|if|to|for|first|in|too|out|needs|such|with|is|has|again|that|which|as|of|no)\Z"
)
_CHOICE = re.compile(r"\b(?:choose|give)(?: one of)? ('?[\w-]+'?)(?:,| or)")
_REFUSED = re.compile(r"no such option|is not one of|applies only|has no effect")
_EXTRA = re.compile(r"got unexpected extra arguments? \((\S+)[ )]")
_FIGURE = re.compile(
    r"(accuracy|mean absolute error) [^\n]*?\(95 % confidence: ([\d.,]+) to ([\d.,]+)"
)
# options that ask for another figure, or for one that may be lower because it is true
_TRUER = {"--drop", "--groups", "--holdout", "--holdout-rows", "--keep", "--label", "--normal"}
_TRUER |= {"--class-weight", "--one-class", "--session", "--target", "--time"}
_FILLING = re.compile(r"--missing (median|most-frequent)\b")
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

    @property
    def kind(self) -> str:
        """What came, for counts."""
        return "faults" if self.faulty else self.came.partition(":")[0]


def sentences(done: Result) -> list[str]:
    """Return the error of a command that failed, or the remarks of one that did not."""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    if done.exit_code:
        return [re.sub(r"^[Ee]rror: ", "", line) for line in lines[-1:]]
    return [line for line in lines if ";" in line or _MEANT.search(line)]


def advised(line: str, sentence: str, own: Mapping[str, str] = OWN) -> Iterator[Advice]:
    """Yield the advice of a sentence that a command line brought; `own` has what it leaves open."""
    words = shlex.split(line)
    if found := _MEANT.search(sentence):
        yield _meant(words, sentence, found)
        return
    _, mark, clauses = sentence.partition("; ")
    if not mark:
        return
    if (extra := _EXTRA.match(sentence)) and extra[1] in words:
        words.remove(extra[1])
    for part in re.split(
        r"(?:, or,? | or, |; | or (?=--|with --|train|omit|choose|give|use|leave))", clauses
    ):
        for command in _COMMAND.finditer(part):
            yield _whole(command[1] or command[2])
        rest = _COMMAND.sub("", part)
        rest = _named(rest, sentence)
        if _OPTION.search(rest):
            yield _changed(words, rest, own)
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


def _changed(words: list[str], part: str, own: Mapping[str, str]) -> Advice:
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
            value = shlex.quote(own[flag]) if flag in own else ""
        if not value:
            return Advice(part)
        if not parameter.multiple:
            kept = _without(kept, parameter)
        added += f" {flag} {value}"
    return Advice(part, f"protonn-edge {shlex.join([name, *kept])}{added}")


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


def follow(
    line: str, shell: Shell = in_shell, deep: int = 3, own: Mapping[str, str] = OWN
) -> list[Followed]:
    """Run a command line, and all that its message advises, each as far as it leads."""
    with _clearing():
        first = shell(f"protonn-edge {line}")
        if first.exit_code == BUG_EXIT_CODE:
            return [Followed(Advice("", line), "a bug", faulty=True)]
        found = sentences(first)
    every = [(said, each) for said in found for each in advised(line, said, own)]
    return [_followed(each, [said], Course(first, line, shell, own), deep) for said, each in every]


class Course(NamedTuple):
    """What all that follows from a command line has in common."""

    first: Result
    line: str
    shell: Shell
    own: Mapping[str, str]


def _followed(advice: Advice, said: list[str], of: Course, deep: int) -> Followed:
    if not advice.line:
        return Followed(advice, "left to the user")
    with _clearing():
        try:
            done = of.shell(_shortened(advice.line))
        except AssertionError as error:
            return Followed(advice, f"no command line for a shell: {error}", faulty=True)
    new = sentences(done)
    if fault := _fault(done, new, said, of) or _untrue(done, advice.line, of):
        return Followed(advice, fault, faulty=True)
    if not done.exit_code:
        return Followed(advice, "works")
    line = advice.line.removeprefix("protonn-edge ")
    next_ones = advised(line, new[0], of.own) if deep else ()
    came = [_followed(each, [*said, new[0]], of, deep - 1) for each in next_ones]
    # One of two ways may undo what was advised, if the other one goes on.
    faults = [each for each in came if each.faulty]
    goes_on = any(each.advice.line and not each.faulty for each in came)
    for each in faults:
        if not (goes_on and each.came.startswith("says the same")):
            return Followed(advice, f"leads to {each.advice.line}: {each.came}", faulty=True)
    return Followed(advice, f"another question: {new[0]}")


def _shortened(line: str) -> str:
    """Return a command line that searches for a moment, not for minutes."""
    if "--classifier best" in line and "--minutes" not in line:
        return f"{line} --minutes 0.02"
    is_search = line.startswith("protonn-edge tune ") and "--trials" not in line
    return f"{line} --trials 1 --jobs 1" if is_search else line


def _fault(done: Result, new: Sequence[str], said: Sequence[str], of: Course) -> str:
    """Return why a command that was advised should not have been, or ""."""
    few = "" if done.exit_code else _too_few(done, of)
    again = {*map(_kind, new)} & {*map(_kind, said)} if done.exit_code else {*new} & {*said}
    faults = {
        "a bug": done.exit_code == BUG_EXIT_CODE,
        f"says the same again: {min(again, default='')}": again,
        f"fails without a word: {done.output}": done.exit_code and not new,
        f"is refused: {min(new, default='')}": done.exit_code and any(map(_REFUSED.search, new)),
        "has no effect": not of.first.exit_code and done.output == of.first.output,
        few: few,
    }
    return next((fault for fault, is_so in faults.items() if is_so), "")


def _untrue(done: Result, line: str, of: Course) -> str:
    """Return why the figure of a command that was advised is not to be believed, or ""."""
    if done.exit_code:
        return ""
    added = {*shlex.split(line)} - {*shlex.split(of.line)}
    before, after = (_FIGURE.search(each.stdout) for each in (of.first, done))
    if before and after and before[1] == after[1] and not added & _TRUER:
        (low, high), (least, most) = (_interval(each) for each in (before, after))
        if most < low if before[1] == "accuracy" else least > high:
            return f"makes it worse: {after[0]}, which was {before[0]}"
    if _FILLING.search(line):
        with _clearing():
            dropped = of.shell(_FILLING.sub("--missing drop", line))
        own = {*map(_kind, _warnings(done))} - {*map(_kind, _warnings(dropped))}
        if own and not dropped.exit_code:
            return f"warns of its own filling: {min(own)}"
    return ""


def _interval(figure: re.Match[str]) -> tuple[float, float]:
    low, high = (float(figure[n].rstrip(".,").replace(",", "")) for n in (2, 3))
    return low, high


def _warnings(done: Result) -> list[str]:
    return [each for each in done.stderr.splitlines() if each.startswith("warning: ")]


def _kind(sentence: str) -> str:
    """Return a sentence without its values."""
    return re.sub(r"'[^']*'|[\w./-]*[\d./][\w./-]*", "...", sentence)


def _too_few(done: Result, of: Course) -> str:
    """Return how few points a command kept of the rows that it was given."""
    kept = re.search(r"\b([\d,]+)(?: training)? (?:points|windows|rows)\b", done.stdout)
    path = next((Path(word) for word in shlex.split(of.line)[1:] if Path(word).is_file()), None)
    if kept is None or path is None or path.suffix not in (".csv", ".tsv", ".txt"):
        return ""
    rows, points = path.read_bytes().count(b"\n"), int(kept[1].replace(",", ""))
    return f"keeps {points} of {rows} rows" if rows >= 40 and 10 * points < rows else ""


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
