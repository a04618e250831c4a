"""The folder that an agent may use: what it names is inside, and is no option of a command."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from protonn_edge.cli.paths import in_home
from protonn_edge.data.naming import quoted
from protonn_edge.system.errors import InputError
from protonn_edge.system.schema import JsonObject

_MOST_LETTERS = 300


class Confinement:
    """A folder, and the checks of arguments of tools."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def checked(
        self, schema: Mapping[str, JsonObject], required: tuple[str, ...], given: object
    ) -> dict[str, str]:
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

    def _value(self, name: str, schema: JsonObject, value: object) -> str:
        choices = schema.get("enum")
        if not isinstance(value, str) or not 0 < len(value) <= _MOST_LETTERS:
            raise InputError(f"{name} is not a text of 1 to {_MOST_LETTERS} characters; give one")
        if choices is not None:
            if value not in choices:
                raise InputError(f"{name} is {quoted(value)}; choose one of {', '.join(choices)}")
        elif value.startswith("-") or not value.isprintable():
            raise InputError(
                f"{name} is {quoted(value)}, which begins with '-' or is not printable; choose "
                "another name"
            )
        elif not self._holds(value):  # a column, too: some options take a file in its place
            raise InputError(
                f"{name} is {quoted(value)}, which leads out of the folder of this server, or is "
                "beside a link to a file that does; name what is in it, without '..'"
            )
        elif in_home(value).is_absolute():  # above it, commands would look for more
            return f"./{in_home(value).resolve().relative_to(self.folder)}"
        return value

    def _holds(self, name: str) -> bool:
        """Return whether a path, and all that commands find by it, is in the folder."""
        try:
            path = (self.folder / in_home(name)).resolve()
            if not path.is_relative_to(self.folder):
                return False
            # Beside a file, there may be others of its labels or groups.
            beside = () if path.is_dir() else filter(Path.is_file, path.parent.glob("*"))
            links = (each for each in (*beside, *path.rglob("*")) if each.is_symlink())
            return all(link.resolve().is_relative_to(self.folder) for link in links)
        except (OSError, RuntimeError, ValueError):  # too long, links in a circle, or no home
            return False
