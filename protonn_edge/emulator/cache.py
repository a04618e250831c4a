"""Compile a program once and keep it, keyed by what it is made from.

The emulator and the bootloader are built on the user's machine because neither may be shipped as a
binary: simavr and Optiboot are GPL, and the compilers are there anyway.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from protonn_edge.errors import InputError

_COMPILE_DEADLINE_S = 120.0


def built_once(name: str, ingredients: Sequence[bytes], build: Callable[[Path], None]) -> Path:
    """Return the cached product of `build`, built now if it is not there.

    Parameters
    ----------
    name : str
        What the product is called in the cache.
    ingredients : sequence of bytes
        Everything that the product depends on; a change of any makes another product.
    build : callable
        Writes the product to the path that it is given. Processes may race: each builds under a
        name of its own, the last one to rename wins, and all products are the same.

    Raises
    ------
    InputError
        If the cache cannot be written to, or from `build`.
    """
    digest = hashlib.sha256()
    for ingredient in ingredients:
        digest.update(len(ingredient).to_bytes(8, "big") + ingredient)
    product = _cache_folder() / f"{name}-{digest.hexdigest()[:16]}"
    if product.exists():
        return product
    try:
        product.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=product.parent) as workshop:
            fresh = Path(workshop) / name
            build(fresh)
            fresh.replace(product)
    except OSError as error:
        raise InputError(
            f"cannot write to the cache {product.parent}: {error.strerror}; "
            "set XDG_CACHE_HOME to a folder that you can write to"
        ) from error
    return product


def run_compiler(command: Sequence[str], packages: str) -> None:
    """Run a compiler.

    Parameters
    ----------
    command : sequence of str
        Its argument vector.
    packages : str
        The Debian packages that hold it and the headers that it wants.

    Raises
    ------
    InputError
        If the compiler or a header is missing, or it fails; the sentence names the packages.
    """
    try:
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C"},
            timeout=_COMPILE_DEADLINE_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise InputError(f"{command[0]} is missing; install {packages}") from error
    except subprocess.TimeoutExpired as error:
        raise InputError(
            f"{command[0]} did not end within {_COMPILE_DEADLINE_S:.0f} s; try again"
        ) from error
    if result.returncode != 0:
        complaint = next((line for line in result.stderr.splitlines() if "error" in line), "")
        raise InputError(f"{command[0]} failed ({complaint or 'no message'}); install {packages}")


def _cache_folder() -> Path:
    """Return the user's cache folder, as the XDG base directory specification says."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "protonn-edge"
