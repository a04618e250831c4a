"""The script of the report's page, which has the emulated Uno in it: one file, made by esbuild.

A wheel has it ready. In a checkout it is made of ``web/`` and npm's avr8js once, and kept in the
user's cache. Where neither is possible the report does without it, and says why.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from protonn_edge.errors import CheckFailed, InputError, ProtoNNEdgeError
from protonn_edge.system.cache import built_once
from protonn_edge.system.resources import resource
from protonn_edge.toolchain.process import run_within

READY = "page.min.js"
"""The name of the script in the ``web`` folder of a wheel."""

_PACKAGES = ("package.json", "package-lock.json")
_ENTRY = "page.js"
INSTALL = (
    *("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"),
    *("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=20000"),
)
"""The command that fetches the packages of a folder, as its lock file has them, and runs none."""

_BUNDLE = (
    *("node", "node_modules/esbuild/bin/esbuild", _ENTRY),
    *("--bundle", "--minify", "--format=iife", "--target=es2022", "--charset=utf8"),
    *("--log-level=warning", f"--outfile={READY}"),
)
_DEADLINE_S = 180


class _NotMadeError(ProtoNNEdgeError):
    """The script cannot be made; the sentence says why."""


@dataclass(frozen=True)
class PageScript:
    """The script, or why there is none.

    Attributes
    ----------
    text : str or None
        JavaScript in one piece.
    missing : str
        Without a text, a part of a sentence: what is not there, and what to do.
    """

    text: str | None
    missing: str = ""


def page_script() -> PageScript:
    """Return the script of the page: the one that is ready, or one that is made now."""
    try:
        return PageScript(script_file().read_text("utf-8"))
    except (ProtoNNEdgeError, OSError) as error:
        return PageScript(None, str(error))


def script_file() -> Path:
    """Return the path of the script: the one that is ready, or one that is made now.

    Raises
    ------
    ProtoNNEdgeError
        If it cannot be made; the sentence says why.
    """
    web = resource("web")
    ready = web / READY
    if ready.is_file():
        return ready
    sources = sorted(path for path in web.iterdir() if path.name in _PACKAGES or _is_source(path))
    ingredients = [part for path in sources for part in (path.name.encode(), path.read_bytes())]
    return built_once("page", ingredients, lambda target: make_script(web, target))


def make_script(web: Path, target: Path) -> None:
    """Make the script of the sources in `web` and write it to `target`.

    Raises
    ------
    ProtoNNEdgeError
        If node or npm is not there, or one of them fails; the sentence says why.
    OSError
        If a file cannot be read or written.
    """
    missing = [tool for tool in ("node", "npm") if shutil.which(tool) is None]
    if missing:
        raise _NotMadeError(f"{' and '.join(missing)} not on PATH; install Node.js 20 or newer")
    workshop = target.with_name(f"{target.name}.workshop")
    shutil.copytree(web, workshop, ignore=shutil.ignore_patterns("node_modules", READY))
    try:
        _run(INSTALL, workshop, "npm cannot fetch avr8js and esbuild")
        license_text = (workshop / "node_modules" / "avr8js" / "LICENSE").read_text("utf-8")
        # Legal comments stay: the script has avr8js inside, whose license wants to travel along.
        banner = f"/*! with avr8js\n{license_text.replace('*/', '* /').strip()}\n*/"
        _run((*_BUNDLE, f"--banner:js={banner}"), workshop, "esbuild cannot make the script")
        shutil.move(workshop / READY, target)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _is_source(path: Path) -> bool:
    return path.is_file() and path.suffix == ".js"


def _run(command: Sequence[str], folder: Path, what: str) -> None:
    try:
        done = run_within(_DEADLINE_S, command, name=what, folder=folder)
    except CheckFailed as error:
        raise _NotMadeError(f"{what} within {_DEADLINE_S} s; is the registry slow?") from error
    except OSError as error:
        raise InputError(f"{what}: {error.strerror or error}") from error
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "warn" not in line.lower()]
        reason = next((line.strip() for line in lines if line.strip()), "no reason given")
        raise _NotMadeError(f"{what} ({reason}); connect to npm's registry")
