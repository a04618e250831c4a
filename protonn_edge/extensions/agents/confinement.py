"""The folder that an agent may use: what it names is inside, and is no option of a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from protonn_edge.cli.paths import in_home
from protonn_edge.data.naming import quoted
from protonn_edge.data.points.instruments import sensor_files
from protonn_edge.system.errors import InputError
from protonn_edge.system.schema import JsonObject

Values = Mapping[str, str | Mapping[str, str]]
"""The arguments of a tool by their names; those of `OPTIONS` by the names of the options."""

OPTIONS = "options"
"""The argument with further options of a command."""

ALLOWED = "allowed"
"""In the schema of `OPTIONS`: their names, which are not sent, because they are many."""

_MOST_LETTERS = 300


class Confinement:
    """A folder, and the checks of arguments of tools."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def checked(
        self, schema: Mapping[str, JsonObject], required: tuple[str, ...], given: object
    ) -> dict[str, str | dict[str, str]]:
        """Return the arguments of a tool, with default values.

        Raises `InputError` for another argument than those of the schema, or a value that is no
        choice, or not in the folder.
        """
        if not isinstance(given, dict):
            raise InputError("the arguments are not an object; give their names and values")
        known = f"known are {', '.join(schema)}, needed are {', '.join(required)}"
        for name in required:
            if name not in given:
                raise InputError(f"the argument {name} is missing; {known}")
        for name in given:
            if name not in schema:
                raise InputError(f"there is no argument {quoted(str(name))}; {known}")
        values = {name: each["default"] for name, each in schema.items() if "default" in each}
        values |= given
        # A default value may be the name of a link, too.
        return {name: self._value(name, schema[name], value) for name, value in values.items()}

    def _value(self, name: str, schema: JsonObject, value: object) -> str | dict[str, str]:
        if schema["type"] == "object":
            return self._options(name, schema[ALLOWED], value)
        if schema["type"] in ("integer", "number"):
            return _number(name, schema, value)
        choices = schema.get("enum")
        if choices is None:
            return self._text(name, value)
        if not isinstance(value, str) or value not in choices:
            raise InputError(f"{name} is {_shown(value)}; choose one of {', '.join(choices)}")
        return value

    def _options(self, name: str, allowed: Sequence[str], given: object) -> dict[str, str]:
        """Return further options of a command; a flag has the value "" here."""
        if not isinstance(given, dict):
            raise InputError(f"{name} is not an object; give names of options and their values")
        found: dict[str, str] = {}
        for key, value in given.items():
            option = str(key).removeprefix("--")
            if option not in allowed:
                raise InputError(
                    f"{name} has {quoted(option)}, which this tool does not take; "
                    f"{_nearest(option, allowed)}"
                )
            if isinstance(value, bool):
                found[option if value else f"no-{option}"] = ""
            else:
                found[option] = self._text(option, _plain(value))
        return found

    def _text(self, name: str, value: object) -> str:
        if not isinstance(value, str) or not 0 < len(value) <= _MOST_LETTERS:
            raise InputError(f"{name} is not a text of 1 to {_MOST_LETTERS} characters; give one")
        if value.startswith("-") or not value.isprintable():
            raise InputError(
                f"{name} is {quoted(value)}, which begins with '-' or is not printable; choose "
                "another name"
            )
        # A column, too: some options take a file in its place.
        if (link := self._leading_out(value)) is not None:
            raise InputError(f"{name} is {quoted(value)}, {link}")
        if in_home(value).is_absolute():  # above it, commands would look for more
            return f"./{in_home(value).resolve().relative_to(self.folder)}"
        return value

    def _leading_out(self, name: str) -> str | None:
        """Return what is wrong with a path, if it or what commands find by it is outside."""
        try:
            path = self.folder / in_home(name)
            if not path.resolve().is_relative_to(self.folder):
                return "which leads out of the folder of this server; name what is in it"
            found = path.rglob("*") if path.is_dir() else map(Path, _labels_of(path))
            for each in found:
                if each.is_symlink() and not each.resolve().is_relative_to(self.folder):
                    link = quoted(str(each.relative_to(self.folder)))
                    return (
                        f"by which the link {link} is found, which leads out of the folder of "
                        "this server; ask the user to remove the link, or use a folder without it"
                    )
        except (OSError, RuntimeError, ValueError):  # too long, links in a circle, or no home
            return "which leads nowhere; name what is in the folder of this server"
        return None


def _labels_of(path: Path) -> list[Path]:
    """Return the files that commands read with a file: with labels of a recording's samples."""
    beside = sorted(path.parent.iterdir()) if path.is_file() else []
    found = [each.labels_files(beside) for each in sensor_files()] if beside else []
    return [labels[path] for labels in found if path in labels]


def _number(name: str, schema: JsonObject, value: object) -> str:
    kinds = int if schema["type"] == "integer" else (int, float)
    least = schema.get("minimum", 0)
    if isinstance(value, bool) or not isinstance(value, kinds) or not value >= least:
        article = "an integer" if schema["type"] == "integer" else "a number"
        raise InputError(f"{name} is {_shown(value)}; give {article} of at least {least}")
    return str(value)


def _plain(value: object) -> object:
    """Return the text of a number, without a fraction of zero; other values as they are."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, int | float) else value


def _shown(value: object) -> str:
    return quoted(str(value))


def _nearest(name: str, allowed: Sequence[str]) -> str:
    near = get_close_matches(name, allowed, 3)
    return f"it has {', '.join(near)}" if near else "leave it out"
