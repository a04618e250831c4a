"""Compile a project with the commands of `pio run`, without PlatformIO.

PlatformIO starts four Pythons before it compiles anything: a second, of which the compiler takes a
third. Where the stand-in for its platform (the folder `shim`) would run the ``avr-gcc`` on PATH,
the commands follow from platformio.ini and from the stand-in's flags. This module knows the options
and flags that this package writes; a project with any others is left to PlatformIO. ``tests``
compare the commands with those that `pio run -v` prints.
"""

from __future__ import annotations

import json
import os
import re
from configparser import ConfigParser, Error
from pathlib import Path

import platformio

from protonn_edge.chips.toolchain.process import compiling_environment, run_in_turn
from protonn_edge.system.errors import cannot_write
from protonn_edge.system.folders import scratch_folder

_SHIM = Path(__file__).parent / "shim" / "platforms" / "atmelavr"
_IMAGE = "avr-objcopy", "-O", "ihex", "-R", ".eeprom"
_OF_PROJECTS = re.compile("default_envs|src_dir|test_dir")
_OF_BOARDS = re.compile(
    r"extends|platform|board|board_build\.(mcu|f_cpu)|build_(flags|unflags|src_filter)"
    r"|test_framework|(board_upload\.|upload_|monitor_|custom_)\w+"
)
_FLAG = re.compile(
    r"-O\w+|-std=[\w+]+|-W[a-z][\w=-]*|-f(?!lto|openmp|sanitize)[\w=-]+"
    r"|-D\w+(=((0|[1-9]\d*)[ULul]*|[A-Za-z_]\w*))?|-Wl,(?!-R|-rpath)[\w=,.-]+"
)
_REMOVED_FLAG = re.compile(r"-[OWfs][\w=+-]*")
_FILTER = re.compile(r"\+<\*>|-<\w+/>")
_VALUE = re.compile(r"\$\{([\w:]+)\.(\w+)\}")
_FOLDERS_OF_USERS = ("lib", "include", "boards")  # of which PlatformIO would take more
# What else PlatformIO would compile.
_OTHER_SOURCES = re.compile(r"\.(cc|cpp|cxx|c\+\+|s|sx|spp|asm|ino|pde)", re.IGNORECASE)


class _NotKnown(Exception):
    """A project has settings or sources whose commands are not known."""


def known_settings(project: Path, environment: str) -> ProjectSettings | None:
    """Return the settings of one environment; None if only PlatformIO knows what they mean."""
    try:
        return ProjectSettings(project, environment)
    except (_NotKnown, Error, KeyError, OSError, UnicodeDecodeError):
        return None


class ProjectSettings:
    """The settings of one environment of a platformio.ini; `_NotKnown` if some are not known here.

    Parameters
    ----------
    project : Path
        The project's folder.
    environment : str
        The name of the section, without ``env:``.
    """

    def __init__(self, project: Path, environment: str) -> None:
        self.project = project
        self._file = ConfigParser(inline_comment_prefixes=("#", ";"), interpolation=None)
        with (project / "platformio.ini").open(encoding="utf-8") as file:
            self._file.read_file(file)
        own = dict(self._file[f"env:{environment}"])
        shared = self._file[own["extends"]] if "extends" in own else {}
        whole = dict(self._file["platformio"]) if "platformio" in self._file else {}
        self._values = {**shared, **own}
        _require("env" not in self._file and "extends" not in shared)
        _require(all(map(_OF_PROJECTS.fullmatch, whole)))
        _require(all(map(_OF_BOARDS.fullmatch, self._values)))
        version = json.loads((_SHIM / "platform.json").read_text("utf-8"))["version"]
        _require(self._values.get("platform") == f"atmelavr@{version}")
        _require({"board_build.mcu", "board_build.f_cpu"} <= {*self._values})
        self.folder = whole.get("src_dir", "src")
        _require(re.fullmatch(r"\w+", self.folder) is not None)
        self._sources, (self._compiling, self._linking) = self._found_sources(), self._flags()

    def commands(self, made: str) -> list[list[str]]:
        """Return the commands, from the project's folder: to compile each source, and to link.

        They write into the folder `made`, and the last one makes the image.
        """
        objects = [f"{made}/src/{source.removesuffix('.c')}.o" for source in self._sources]
        compiling = [
            ["avr-gcc", "-o", each, "-c", *self._compiling, f"{self.folder}/{source}"]
            for source, each in zip(self._sources, objects, strict=True)
        ]
        linking = [
            *("avr-gcc", "-o", f"{made}/firmware.elf", *self._linking, *objects, f"-L{made}"),
            *("-Wl,--start-group", "-lm", "-Wl,--end-group"),
        ]
        return [*compiling, linking, [*_IMAGE, f"{made}/firmware.elf", f"{made}/firmware.hex"]]

    def _words(self, option: str, known: re.Pattern[str]) -> list[str]:
        text = _VALUE.sub(
            lambda found: self._file[found[1]][found[2]], self._values.get(option, "")
        )
        words = text.split()
        _require(all(map(known.fullmatch, words)))
        return words

    def _flags(self) -> tuple[list[str], list[str]]:
        """Return the flags of the compiler, and those of the linker."""
        mcu, frequency = (self._values[f"board_build.{name}"] for name in ("mcu", "f_cpu"))
        text = (_SHIM / "builder" / "flags.json").read_text("utf-8")
        flags = json.loads(text.replace("$BOARD_MCU", mcu))
        standard, common, linking = (flags[kind] for kind in ("CFLAGS", "CCFLAGS", "LINKFLAGS"))
        defined = [f"-DF_CPU={frequency}", f"-DPLATFORMIO={_version()}"]
        kinds = {"-std=": standard, "-Wl,": linking, "-D": defined}
        for flag in self._words("build_flags", _FLAG):
            next((kinds[start] for start in kinds if flag.startswith(start)), common).append(flag)
        _require(len({flag.partition("=")[0] for flag in defined}) == len(defined))
        removed = self._words("build_unflags", _REMOVED_FLAG)
        compiling = [*standard, *common, *defined]
        return (
            [*(flag for flag in compiling if flag not in removed), f"-I{self.folder}"],
            [flag for flag in linking if flag not in removed],
        )

    def _found_sources(self) -> list[str]:
        """Return the names of the C files in the sources' folder that are not filtered out."""
        folder = self.project / self.folder
        left_out = tuple(word[2:-1] for word in self._words("build_src_filter", _FILTER))
        files = [path for path in folder.rglob("*") if path.is_file()]
        names = {path.relative_to(folder).as_posix(): path.suffix for path in files}
        taken = {name: end for name, end in names.items() if not name.startswith(left_out)}
        _require(not any(map(_OTHER_SOURCES.fullmatch, taken.values())))
        _require(not any((self.project / name).exists() for name in _FOLDERS_OF_USERS))
        return sorted(name for name, end in taken.items() if end == ".c")


def _require(known: bool) -> None:
    if not known:
        raise _NotKnown


def _version() -> str:
    """Return the version of PlatformIO as a program sees it: 60200 for 6.2.0."""
    major, minor, patch = map(int, re.findall(r"\d+", platformio.__version__)[:3])
    return f"{major}{minor:02d}{patch:02d}"


def build(project: Path, environment: str, deadline_s: float) -> bool:
    """Compile and link a project; return False if that is left to PlatformIO.

    That is so if only PlatformIO knows how, or if a compiler has a message. All files of the last
    build are replaced at once, and with them PlatformIO's notes, or its next run would take these
    objects for its own. Raises `CheckFailed` after the deadline, and `InputError` if the folder of
    builds cannot be written to.
    """
    settings = known_settings(project, environment)
    if os.name == "nt" or settings is None:  # Windows has no shell for the commands
        return False
    builds = project / ".pio" / "build"
    try:
        builds.mkdir(parents=True, exist_ok=True)
        with scratch_folder(builds) as scratch:
            made = scratch / environment
            if not _made(settings, made, deadline_s):
                return False
            _replace(builds / environment, made, scratch / "before")
    except OSError as error:
        raise cannot_write(builds, error) from error
    return True


def _made(settings: ProjectSettings, made: Path, deadline_s: float) -> bool:
    """Run all commands; return whether they succeeded without a message."""
    project = settings.project
    steps = settings.commands(made.relative_to(project).as_posix())
    for step in steps[:-1]:
        (project / step[2]).parent.mkdir(parents=True, exist_ok=True)
    done = run_in_turn(
        deadline_s, steps, name="avr-gcc", folder=project, environment=compiling_environment()
    )
    return done.returncode == 0 and not done.stderr


def _replace(folder: Path, made: Path, aside: Path) -> None:
    """Put a new folder in the place of one, which stays if that fails."""
    if folder.exists():
        folder.rename(aside)
    try:
        made.rename(folder)
    except OSError:
        if aside.exists():
            aside.rename(folder)
        raise
