"""Build the firmware with PlatformIO, whether or not its registry can be reached.

A board's section of platformio.ini, and its description, are generated from the board's file. On a
machine with internet access, PlatformIO downloads the platform and the compiler as usual.
Otherwise, a stand-in for its platform (the folder `shim`) runs the `avr-gcc` on PATH with the same
file; a project with settings as ours is then compiled without PlatformIO (`direct`).
"""

from __future__ import annotations

import functools
import json
import os
import queue
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.request import getproxies

import platformio
from platformio.dependencies import get_core_dependencies
from platformio.project.options import get_default_core_dir

from protonn_edge.chips.boards import Board, board_names, load_board
from protonn_edge.chips.toolchain import direct
from protonn_edge.chips.toolchain.process import (
    BUSY,
    compiling_environment,
    relevant_lines,
    run_within,
)
from protonn_edge.system.checks import check
from protonn_edge.system.errors import CheckFailed, InvalidValue
from protonn_edge.system.folders import built_once
from protonn_edge.system.schema import JsonObject

_SHIM = Path(__file__).parent / "shim"
_COMPILER = "packages/toolchain-atmelavr"  # in PlatformIO's core folder
_CHOICE = "PROTONN_EDGE_PLATFORMIO"
_TELEMETRY = "PLATFORMIO_SETTING_ENABLE_TELEMETRY"
_PROBE_SECONDS = 2.5
_BUILD_DEADLINE_S = 600.0  # the first build on a new machine downloads a compiler
_TOO_LARGE = "is greater than maximum allowed"  # PlatformIO's words after the link
_UNATTENDED = {
    # Without it an old core folder makes PlatformIO wait a minute for its update server.
    "PLATFORMIO_DISABLE_UPGRADE_CHECK": "true",
    "PLATFORMIO_NO_ANSI": "true",
    "PLATFORMIO_GLOBALLIB_DIR": os.devnull,  # libraries of all of a user's projects
}


def build_firmware(project: Path, environment: str = "uno") -> Path:
    """Compile and link the PlatformIO project in a folder; return the ELF file.

    It builds the section ``[env:...]`` of platformio.ini for `environment`. The .su files of
    ``-fstack-usage`` are below its folder. This function does not check the size. Raises
    `InputError` if `project` is not a PlatformIO project, has no such section, or there is no
    compiler, and `CheckFailed`, with their messages, if the compiler or the linker refuses the
    firmware.
    """
    settings = project / "platformio.ini"
    if not settings.is_file():
        raise InvalidValue(project, "no platformio.ini", f"{_BUILD_THERE} first")
    if f"[env:{environment}]" not in settings.read_text("utf-8", "replace"):
        raise InvalidValue(
            settings,
            f"no [env:{environment}]",
            "build the model for this board in a new folder, or choose another board",
        )
    builds = project.resolve() / ".pio" / "build"
    elf = builds / environment / "firmware.elf"
    stands_in = "PLATFORMIO_PLATFORMS_DIR" in pio_variables()
    if stands_in and direct.build(project.resolve(), environment, _BUILD_DEADLINE_S):
        return elf
    # The settings' own build_dir would move the ELF away.
    variables = {"PLATFORMIO_BUILD_DIR": str(builds)}
    arguments = ("run", "--environment", environment)
    run_pio(project, *arguments, variables=variables, accepted=_TOO_LARGE)
    if not elf.is_file():
        raise CheckFailed(f"pio run succeeded without writing {elf}; remove {builds} and try again")
    return elf


def run_pio(
    project: Path,
    *arguments: str,
    deadline_s: float = _BUILD_DEADLINE_S,
    remedy: str = BUSY,
    variables: Mapping[str, str] | None = None,
    accepted: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the ``pio`` of this Python environment, which need not be on PATH, in a project's folder.

    After the deadline, it is ended with all processes that it started; `remedy` is then the advice.
    It gets `variables` in addition to `pio_environment`; a failure whose output contains `accepted`
    is ignored. Returns its output as text. Raises `CheckFailed` if it fails or takes too long.
    """
    command = [sys.executable, "-m", "platformio", *arguments]
    environment = {**pio_environment(), **_UNATTENDED, **(variables or {})}
    done = run_within(
        deadline_s, command, name="pio", folder=project, environment=environment, remedy=remedy
    )
    if done.returncode != 0 and not (accepted and accepted in done.stderr):
        reason = relevant_lines(done.stderr or done.stdout)
        raise CheckFailed(f"'pio {' '.join(arguments)}' failed: {reason}")
    return done


def pio_environment() -> dict[str, str]:
    """Return the environment for ``pio``: `pio_variables`, and no telemetry unless asked for."""
    return {_TELEMETRY: "no", **compiling_environment(), **pio_variables()}


def pio_variables() -> dict[str, str]:
    """Return the variables that make PlatformIO work without its registry, if necessary.

    There are none if PlatformIO's folders were set by hand, the stock platform is installed, or the
    registry answers. ``PROTONN_EDGE_PLATFORMIO=stock`` or ``=offline`` skips these checks. Raises
    `InputError` if this variable has another value, or if there is neither a registry nor an
    ``avr-gcc``.
    """
    choice = os.environ.get(_CHOICE, "")
    check(
        choice in ("", "stock", "offline"),
        _CHOICE,
        repr(choice),
        "'stock' or 'offline'",
        "choose one of these, or unset it",
    )
    if choice == "stock" or (not choice and "PLATFORMIO_PLATFORMS_DIR" in os.environ):
        return {}
    if not choice and (_stock_platform_is_installed() or _registry_is_reachable()):
        return {}
    if shutil.which("avr-gcc") is None:
        raise InvalidValue(
            "avr-gcc",
            "not on PATH, and PlatformIO's registry cannot be reached",
            "connect to the internet, or install gcc-avr, avr-libc and avrdude",
        )
    core = _installed_shim()
    return {
        "PLATFORMIO_CORE_DIR": str(core),
        "PLATFORMIO_PACKAGES_DIR": str(core / "packages"),
        "PLATFORMIO_PLATFORMS_DIR": str(core / "platforms"),
        "PLATFORMIO_DISABLE_UPGRADE_CHECK": "true",
        _TELEMETRY: "no",
    }


def _stock_platform_is_installed() -> bool:
    """Return True if everything that `pio run` would download is installed."""
    core = _core_folder()
    return any(map(_is_pinned, core.glob("platforms/atmelavr*"))) and all(
        (core / folder).is_dir() for folder in (_COMPILER, "packages/tool-scons")
    )


def _core_folder() -> Path:
    return Path(os.environ.get("PLATFORMIO_CORE_DIR") or get_default_core_dir())


_BUILD_THERE = "run 'protonn-edge build --board uno model.npz' there"


def avr_gcc() -> str:
    """Return the path of the compiler on PATH, or of PlatformIO's; `InputError` without one."""
    own = str(_core_folder() / _COMPILER / "bin")
    path = shutil.which("avr-gcc") or shutil.which("avr-gcc", path=own)
    if path is None:
        raise InvalidValue("avr-gcc", "not on PATH", "install gcc-avr and avr-libc")
    return path


def _is_pinned(platform: Path) -> bool:
    """Return True if an installed platform has the version that platformio.ini names."""
    pinned = json.loads((_SHIM / "platforms" / "atmelavr" / "platform.json").read_text("utf-8"))
    try:
        manifest = json.loads((platform / "platform.json").read_text("utf-8"))
        return bool(manifest["version"] == pinned["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


@functools.cache
def _registry_is_reachable() -> bool:
    """Ask every mirror of the registry for the platform; the first good answer decides."""
    answers: queue.SimpleQueue[bool] = queue.SimpleQueue()
    mirrors = list(platformio.__registry_mirror_hosts__)
    for mirror in mirrors:
        # A thread, because name resolution lacks a deadline; a daemon, so that nobody waits for it.
        threading.Thread(target=_ask, args=(mirror, answers), daemon=True).start()
    end = time.monotonic() + _PROBE_SECONDS
    try:
        return any(answers.get(timeout=max(0.0, end - time.monotonic())) for _ in mirrors)
    except queue.Empty:
        return False


def _has_address(host: str) -> bool:
    try:
        return bool(socket.getaddrinfo(host, 443))
    except OSError:
        return False


def _ask(mirror: str, answers: queue.SimpleQueue[bool]) -> None:
    """Put into `answers` whether a mirror of the registry knows the platform."""
    if not getproxies() and not _has_address(f"api.{mirror}"):
        answers.put(False)
        return
    # A dependency of PlatformIO: its way to the registry is the one to try. It is slow to import.
    import requests

    address = f"https://api.{mirror}/v3/packages/platformio/platform/atmelavr"
    try:
        with requests.get(address, timeout=_PROBE_SECONDS, stream=True) as response:
            answers.put(bool(response.ok))
    except (requests.RequestException, ValueError):
        answers.put(False)


def _installed_shim() -> Path:
    """Return a folder that PlatformIO takes for its core folder, made on first use in the cache."""
    files = _shim_files()

    def lay_out(core: Path) -> None:
        for name, content in files.items():
            path = core / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    return built_once("platformio", [repr(sorted(files.items())).encode()], lay_out)


def _shim_files() -> dict[str, bytes]:
    """Return the contents of the shim's files, by their names in PlatformIO's core folder."""
    files = {
        path.relative_to(_SHIM).as_posix(): path.read_bytes()
        for folder in ("packages", "platforms")
        for path in (_SHIM / folder).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    for board in map(load_board, board_names()):
        name = f"platforms/atmelavr/boards/{board.platformio_board}.json"
        files[name] = json.dumps(description(board), indent=2).encode()
    # PlatformIO takes a package for installed if owner, name and version are the ones it asks for.
    name = "tool-scons"
    version = get_core_dependencies()[name].lstrip("~^=")
    manifest = {"name": name, "version": version, "system": "*"}
    spec = {"owner": "platformio", "name": name, "id": None, "requirements": None, "uri": None}
    record = {"type": "tool", "name": name, "version": version, "spec": spec}
    files[f"packages/{name}/package.json"] = json.dumps(manifest).encode()
    files[f"packages/{name}/.piopm"] = json.dumps(record).encode()
    return files


_DEFAULT_BAUD = 115_200  # of firmware/uart.c
_LINKED_BYTES = 0x10000  # what platformio.ini lets any program link


def environment_section(board: Board) -> str:
    """Return the section of platformio.ini that builds the firmware for a board."""
    lines = [
        f"[env:{board.environment}]",
        "extends = avr",
        f"board = {board.platformio_board or board.environment}",
        f"board_build.mcu = {board.mcu}",
        f"board_build.f_cpu = {board.clock_hz}L",
    ]
    flags = build_flags(board)
    if flags:
        lines += ["build_flags =", "    ${avr.build_flags}", *(f"    {flag}" for flag in flags)]
    return "\n".join([*lines, *upload_lines(board)]) + "\n"


def upload_lines(board: Board) -> list[str]:
    """Return the upload settings of a user's board; PlatformIO knows boards with a name."""
    if board.environment in board_names():
        return []
    lines = [f"upload_protocol = {board.upload_protocol}"]
    if board.upload_baud:
        lines.append(f"upload_speed = {board.upload_baud}")
    if board.usb_ids:
        lines.append(f"custom_usb_ids = {', '.join(board.usb_ids)}")
    return lines


def description_file(board: Board) -> dict[str, str]:
    """Return the file in a project that describes a board which PlatformIO does not know."""
    if board.platformio_board:
        return {}
    text = json.dumps(description(board), indent=2) + "\n"
    return {f"boards/{board.environment}.json": text}


def build_flags(board: Board) -> list[str]:
    """Return the compiler's flags for a board's differences from an Uno."""
    flags = []
    if board.baud != _DEFAULT_BAUD:
        flags.append(f"-DBAUD={board.baud}UL")
    if board.serial != "usart0":
        flags.append(f"-DUART_NUMBER={board.serial.removeprefix('usart')}")
    if board.busy_pin != "PB0":
        flags.append(f"-DBUSY_PIN={board.busy_pin[2:]}")
    if board.flash_total_bytes > _LINKED_BYTES:
        flags.append(f"-Wl,--defsym=__TEXT_REGION_LENGTH__=0x{2 * board.flash_total_bytes:x}")
    return flags


def description(board: Board) -> JsonObject:
    """Return a board as a platform of PlatformIO describes it, for its .json file."""
    upload: JsonObject = {
        "maximum_size": board.flash_bytes,
        "maximum_ram_size": board.sram_bytes,
        "protocol": board.upload_protocol,
    }
    if board.upload_baud:
        upload |= {"require_upload_port": True, "speed": board.upload_baud}
    return {
        "name": board.title,
        "vendor": "protonn-edge",
        "url": "",
        "build": {
            "mcu": board.mcu,
            "f_cpu": f"{board.clock_hz}L",
            "hwids": [[f"0x{part}" for part in each.split(":")] for each in board.usb_ids],
        },
        "upload": upload,
    }
