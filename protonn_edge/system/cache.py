"""Make a file or a folder once and keep it in the user's cache, keyed by what it is made from.

The emulator and the bootloader are compiled on the user's machine, because neither may be shipped
as a binary: simavr and Optiboot are GPL, and the compilers are there anyway. PlatformIO's stand-in
platform needs a folder that can be written to.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from protonn_edge.errors import InputError
from protonn_edge.system.scratch import scratch_folder


def built_once(name: str, ingredients: Sequence[bytes], build: Callable[[Path], None]) -> Path:
    """Return the cached product of `build`, built now if it is not there.

    - `name`: what the product is called in the cache.
    - `ingredients`: everything that the product depends on; a change of any makes another product.
    - `build`: writes the product, a file or a folder, to the path that it is given. Processes may
      race: each builds under a name of its own, one of them wins, and all products are the same.

    Raises `InputError` if the cache cannot be written to, or from `build`.
    """
    digest = hashlib.sha256()
    for ingredient in ingredients:
        digest.update(len(ingredient).to_bytes(8, "big") + ingredient)
    product = cache_folder() / f"{name}-{digest.hexdigest()[:16]}"
    if product.exists():
        return product
    try:
        product.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder(product.parent) as workshop:
            fresh = workshop / name
            build(fresh)
            fresh.replace(product)
    except OSError as error:
        if not product.exists():  # else another process made it meanwhile
            raise InputError(
                f"cannot write to the cache {product.parent}: {error.strerror}; "
                "set XDG_CACHE_HOME to a folder that you can write to"
            ) from error
    return product


def cache_folder() -> Path:
    """Return where this user's caches are, by the custom of the operating system."""
    if os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        # By the XDG specification a path that is not absolute counts as none.
        base = Path(os.environ.get("XDG_CACHE_HOME", ""))
        if not base.is_absolute():
            base = Path.home() / ".cache"
    return base / "protonn-edge"
