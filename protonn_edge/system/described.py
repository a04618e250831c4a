"""Things that .toml files describe, such as boards: files of the package, or a user's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from protonn_edge.system.errors import InputError, InvalidValue, shortened
from protonn_edge.system.files import read_file
from protonn_edge.system.schema import Check, JsonObject, whole

FILE_LIMIT_BYTES = 64 << 10
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


class Key(NamedTuple):
    """The allowed values of a key, as words for messages and as a check."""

    words: str
    holds: Check


def whole_number(low: int, high: int) -> Key:
    """Return the key of an integer from `low` to `high`."""
    return Key(f"a whole number from {low:,} to {high:,}", whole(low, high))


def matches(pattern: str) -> Check:
    """Return the check for a text that a pattern matches completely."""
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


TITLE = Key("a string of 1 to 60 ASCII characters", matches(r"[ -~]{1,60}"))


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


@dataclass(frozen=True)
class Shelf:
    """Things of one kind, each described by a file in a folder of the package."""

    noun: str  # ``"board"``
    package: str
    page: str  # of the docs
    otherwise: str = ""  # what else to do, at the end of a message about an unknown name
    usual: str = ""  # what a word is for that several titles have

    def names(self) -> list[str]:
        """Return the names of the package's files, sorted."""
        files = (file.name for file in resources.files(self.package).iterdir())
        return sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml"))

    def read(
        self, name: str, offered: Callable[[], Sequence[str]] | None = None
    ) -> tuple[str, JsonObject, str]:
        """Return the name, the content and the displayed name of a file.

        `name` is a file's name in the folder without its suffix, or a path that ends in .toml.
        Raises `InputError` if there is no such file, with all names or those `offered`, which are
        only asked for then, or it is not TOML.
        """
        is_path = name.endswith(".toml")
        if is_path:
            self._check_name(Path(name))
        elif name not in self.names():
            raise self.unknown(name, (offered or self.names)())
        path = Path(name) if is_path else Path(str(resources.files(self.package)), f"{name}.toml")
        source = name if is_path else path.name
        return path.stem, self._facts(path, source), source

    def unknown(self, name: str, names: Sequence[str]) -> InputError:
        """Return the error for a name that is none of these."""
        near = self._meant(name, names)
        otherwise = f"did you mean {near!r}?" if near else self.otherwise
        return InputError(
            f"no {self.noun} is called {shortened(name)!r}; choose one of {', '.join(names)}, or "
            f"give the path of a .toml file{otherwise and f'; {otherwise}'}"
        )

    def _meant(self, name: str, names: Sequence[str]) -> str:
        """Return the name that begins like one, has it in its title, or is spelled alike, or ""."""
        own, word = {*self.names()}, _plain(name)
        if begun := [each for each in names if word and _plain(each).startswith(word)]:
            return begun[0]
        titled = [
            each
            for each in names
            if each in own and word and word in _plain(self.read(each)[1].get("title", ""))
        ]
        if titled:
            return self.usual if self.usual in titled else titled[0]
        by_plain = {_plain(each): each for each in names}
        return "".join(by_plain[near] for near in get_close_matches(word, by_plain, n=1))

    def check(
        self,
        facts: Mapping[str, object],
        keys: Mapping[str, Key],
        optional: Collection[str],
        source: str,
    ) -> None:
        """Raise `InputError` if a key is not known, is missing, or has a wrong value."""
        for key in facts:
            if key not in keys:
                raise InvalidValue(
                    source,
                    f"the key {shortened(key)!r}, which this {self.noun} cannot have",
                    f"see {self.page}",
                )
        for key, must in keys.items():
            if key not in facts and key not in optional:
                raise InvalidValue(source, f"no key {key!r}, expected {must.words}")
            if key in facts and not must.holds(facts[key]):
                raise InvalidValue(source, f"{key} = {_shown(facts[key])}, expected {must.words}")

    def _check_name(self, path: Path) -> None:
        if not _NAME.fullmatch(path.stem):
            raise InvalidValue(
                shortened(path.name),
                f"not a valid name for a {self.noun}",
                "use at most 40 letters, digits, - and _, and begin with a letter or digit",
            )
        if path.stem in self.names():
            raise InvalidValue(
                path, f"{path.stem} is already a {self.noun}", "give the file another name"
            )

    def _facts(self, path: Path, source: str) -> JsonObject:
        import tomllib  # few commands read such a file

        remedy = f"name a {self.noun}'s file"
        content = read_file(path, limit_bytes=FILE_LIMIT_BYTES, remedy=remedy)
        try:
            return tomllib.loads(content.decode())
        except UnicodeDecodeError as error:
            raise InvalidValue(source, "not UTF-8 text", "save it as UTF-8") from error
        except tomllib.TOMLDecodeError as error:
            fault = shortened(str(error))
            raise InvalidValue(source, f"not TOML: {fault}", f"see {self.page}") from error
        except (ValueError, RecursionError) as error:  # long integers, deep nesting
            raise InvalidValue(
                source, "a number is too long, or tables are nested too deeply", f"see {self.page}"
            ) from error


def _shown(value: object) -> str:
    try:
        return shortened(repr(value))
    except (ValueError, RecursionError):  # an integer of over 4,300 digits, or nested lists
        return "a value too long to show"
