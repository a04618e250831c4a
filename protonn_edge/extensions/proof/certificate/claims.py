"""A certificate: claims about a build, each with its status, evidence, and the way to repeat it.

The same inputs give the same bytes, as a file and as a page: a certificate contains no times, host
names or paths, except the path of a board's file as given.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from protonn_edge import __version__
from protonn_edge.codegen.renderer import html_environment
from protonn_edge.system.errors import InvalidValue, counted, shortened
from protonn_edge.system.files import read_file
from protonn_edge.system.schema import JsonObject, list_of, nullable, one_of, record_of, text, whole

PROVEN, MEASURED, NOT_CHECKED = "proven", "measured", "not checked"

MODEL, TRAINING_DATA, FIRMWARE = "integer model", "training data", "firmware"
"""Names of hashes; sources are named by their paths."""

POINTS = 8, 100_000  # the fewest and the most that executions are compared on

_TOOL = {"name": "protonn-edge", "version": __version__}
_FORMAT = 2  # increase it if a key changes; files of other formats are refused
_LARGEST_FILE = 1 << 20
_LONGEST = 1_000
_LARGEST_NUMBER = 10**15


@dataclass(frozen=True)
class Claim:
    """One claim."""

    name: str  # for programs, such as ``"stack"``
    statement: str  # a sentence
    status: str  # `PROVEN`, `MEASURED` or `NOT_CHECKED`
    by: str  # its evidence; for a claim that is not checked, the reason, or the evidence needed
    value: int | None = None  # the number in the statement, if it is about one
    points: int | None = None  # on how many points it was measured

    @property
    def standing(self) -> str:
        """The status, with the number of points."""
        if self.points is None:
            return self.status
        return f"{self.status} on {counted(self.points, 'point')}"


@dataclass(frozen=True)
class Settings:
    """The settings that decide which claims are checked."""

    board: str  # its name
    entry: str = "pnn_predict"  # its cycles are bounded
    points: int = 128  # that executions are compared on
    prove: bool = False  # whether the C is proven free of undefined behaviour
    every_input: bool = False  # whether the linked program is proven to compute the model

    @property
    def command(self) -> str:
        """The command that repeats the certificate, with PATH for the certified files."""
        options = ["--board", self.board]
        for name in ("entry", "points"):
            if getattr(self, name) != getattr(Settings, name):
                options += [f"--{name}", str(getattr(self, name))]
        more = ["--prove"] * self.prove + ["--every-input"] * self.every_input
        return shlex.join(["protonn-edge", "verify", "PATH", *options, *more])


@dataclass(frozen=True)
class Certificate:
    """The claims about a build."""

    subject: Mapping[str, str]  # the certified build: its kind, the chip, the compilers
    settings: Settings
    hashes: Mapping[str, str]  # SHA-256 of each input and output, by its name
    claims: tuple[Claim, ...]

    @property
    def compilers(self) -> list[str]:
        """The compilers that the program names."""
        return list(filter(None, self.subject["compilers"].split("; ")))

    def to_json(self) -> JsonObject:
        """Return the certificate with the keys of its file."""
        return {
            "format": _FORMAT,
            "tool": {**_TOOL},
            "subject": dict(self.subject),
            "settings": asdict(self.settings),
            "repeat": self.settings.command,
            "hashes": dict(self.hashes),
            "claims": [asdict(claim) for claim in self.claims],
        }

    def text(self) -> str:
        """Return the content of its file."""
        return json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"

    def page(self) -> str:
        """Return it as one HTML file without external resources, for people."""
        template = html_environment().get_template("certificate.html.j2")
        return template.render(certificate=self)

    def differences(self, earlier: Certificate) -> list[str]:
        """Return a sentence for each point in which this certificate contradicts an earlier one."""
        return [
            *_differing("", earlier.subject, self.subject),
            *_differing("hash of ", earlier.hashes, self.hashes),
            *_differing("claim ", earlier.said, self.said),
        ]

    @property
    def said(self) -> dict[str, str]:
        """Each claim, by its name."""
        said: dict[str, str] = {}
        for each in self.claims:
            number = "" if each.value is None else f"; value {each.value}"
            sentence = f"{each.statement} ({each.standing}: {each.by}{number})"
            said[each.name] = f"{said[each.name]}; {sentence}" if each.name in said else sentence
        return said


def _differing(what: str, before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            was, is_now = (each.get(name, "missing") for each in (before, now))
            yield f'{what}{name} was "{was}" and is now "{is_now}"'


_TEXTS = list_of(text(_LONGEST), most=2)
_NUMBER = nullable(whole(-_LARGEST_NUMBER, _LARGEST_NUMBER))
_CLAIM = record_of(
    {
        **dict.fromkeys(("name", "statement", "by"), text(_LONGEST)),
        "status": one_of(PROVEN, MEASURED, NOT_CHECKED),
        **dict.fromkeys(("value", "points"), _NUMBER),
    }
)


def _texts(value: object) -> bool:
    return isinstance(value, dict) and all(_TEXTS(list(pair)) for pair in value.items())


_SETTINGS = record_of(
    {
        **dict.fromkeys(("board", "entry"), text(_LONGEST)),
        "points": whole(*POINTS),
        **dict.fromkeys(("prove", "every_input"), lambda value: isinstance(value, bool)),
    }
)
_RECORD = record_of(
    {
        "format": whole(_FORMAT, _FORMAT),
        **dict.fromkeys(("tool", "subject", "hashes"), _texts),
        "settings": _SETTINGS,
        "repeat": text(_LONGEST),
        "claims": list_of(_CLAIM, most=100),
    }
)


def read_certificate(path: Path) -> Certificate:
    """Return a file's certificate; `InputError` if missing, damaged, or of another version."""
    contents = read_file(path, limit_bytes=_LARGEST_FILE)
    try:
        record = json.loads(contents)
        if not _RECORD(record):
            raise ValueError
    except (ValueError, RecursionError) as error:
        raise InvalidValue(
            path, "not a certificate", "name a file that 'verify -o' wrote"
        ) from error
    if record["tool"] != _TOOL:
        writer = shortened(" ".join(record["tool"].values()))
        raise InvalidValue(
            path,
            f"written by {writer!r}, but this is {' '.join(_TOOL.values())!r}",
            "check the certificate with the program that wrote it",
        )
    certificate = Certificate(
        record["subject"],
        Settings(**record["settings"]),
        record["hashes"],
        tuple(Claim(**claim) for claim in record["claims"]),
    )
    if certificate.to_json() != record:
        raise InvalidValue(
            path,
            "edited, because its command does not match its settings",
            "certify the program again",
        )
    return certificate
