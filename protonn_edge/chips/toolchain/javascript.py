"""The scripts that contain the emulated Uno: for the report's page, and for Node.js.

A wheel contains them. In a checkout, esbuild bundles them once from the folder ``scripts`` of
an extension and npm's avr8js into the user's cache.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from protonn_edge.chips.toolchain.process import run_within
from protonn_edge.system.errors import CheckFailed, InvalidValue, ProtoNNEdgeError
from protonn_edge.system.files import resources
from protonn_edge.system.folders import built_once

PAGE, EMULATOR = "page.min.js", "emulator.min.cjs"
"""The names of the scripts in the folder ``scripts`` of a wheel."""

SCRIPTS = {
    PAGE: ("page.js", "--format=iife"),
    EMULATOR: ("emulator.js", "--format=cjs", "--platform=node"),
}
"""The source of each script, and esbuild's options for it."""

INSTALL = (
    *("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"),
    *("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=20000"),
)
"""The command that fetches the packages of a folder's lock file without running any code."""

_PACKAGES = ("package.json", "package-lock.json")
_ESBUILD = (
    *("node", "node_modules/esbuild/bin/esbuild", "--bundle", "--minify", "--target=es2022"),
    *("--charset=utf8", "--log-level=warning"),
)
_DEADLINE_S = 180
_NODE, _CONNECTION = "install Node.js 20 or newer", "check the connection to npm's registry"


class _NotMadeError(ProtoNNEdgeError):
    """A script cannot be made; the sentence gives the reason."""


def scripts_folder() -> Path:
    """Return the folder with the sources of the scripts."""
    for folder in resources("scripts"):
        return folder
    raise _NotMadeError("the extension with the scripts of pages is not installed")


def script_file(name: str) -> Path:
    """Return the path of one of `SCRIPTS`, made if need be; `ProtoNNEdgeError` if it cannot be."""
    web = scripts_folder()
    if (web / name).is_file():
        return web / name
    scripts = (path for path in web.glob("*.js") if path.is_file() and path.name not in SCRIPTS)
    sources = sorted([*scripts, *(web / name for name in _PACKAGES)])
    ingredients = [part for path in sources for part in (path.name.encode(), path.read_bytes())]
    ingredients.append(repr((SCRIPTS, _ESBUILD)).encode())
    return built_once("web", ingredients, lambda target: _make_scripts(web, target)) / name


def _make_scripts(web: Path, target: Path) -> None:
    """Make all scripts of the sources in `web` and write them to a new folder `target`."""
    missing = [tool for tool in ("node", "npm") if shutil.which(tool) is None]
    if missing:
        raise _NotMadeError(f"cannot find {' and '.join(missing)} on PATH; {_NODE}")
    workshop = target.with_name(f"{target.name}.workshop")
    shutil.copytree(web, workshop, ignore=shutil.ignore_patterns("node_modules", *SCRIPTS))
    try:
        _run(INSTALL, workshop, "npm cannot fetch avr8js and esbuild")
        license_text = (workshop / "node_modules" / "avr8js" / "LICENSE").read_text("utf-8")
        # Legal comments stay: a script contains avr8js, which requires its license to be included.
        banner = f"/*! with avr8js\n{license_text.replace('*/', '* /').strip()}\n*/"
        target.mkdir()
        for name, (entry, *options) in SCRIPTS.items():
            options_given = (entry, *options, f"--banner:js={banner}", f"--outfile={name}")
            _run((*_ESBUILD, *options_given), workshop, "esbuild cannot build the script", _NODE)
            shutil.move(workshop / name, target / name)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _run(command: Sequence[str], folder: Path, what: str, remedy: str = _CONNECTION) -> None:
    try:
        done = run_within(_DEADLINE_S, command, name=what, folder=folder)
    except CheckFailed as error:
        raise _NotMadeError(f"{what} within {_DEADLINE_S} s; {remedy}") from error
    except OSError as error:
        raise InvalidValue(what, str(error.strerror or error)) from error
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "warn" not in line.lower()]
        reason = next((line.strip() for line in lines if line.strip()), "no reason given")
        raise _NotMadeError(f"{what} ({reason}); {remedy}")
