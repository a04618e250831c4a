"""Results in the user's cache, kept by the content of all that they were computed from.

They only save time: where the cache cannot be read or written, results are computed again. A file
begins with a digest of its content, so one that is incomplete after a power failure is not used.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from protonn_edge.system.folders import cache_folder, digest, scratch_folder

_DIGEST_BYTES = 32


class KeptResults:
    """A folder of results, of which the last used ones stay.

    Parameters
    ----------
    name : str
        Its name in its place.
    most : int
        The largest number of results. If there are more, the older half is removed.
    place : Path, optional
        Where it is, by default the user's cache folder as the environment names it at each use.
    """

    def __init__(self, name: str, most: int, place: Path | None = None) -> None:
        self._name, self._most, self._place = name, most, place

    @property
    def _folder(self) -> Path:
        return (self._place or cache_folder()) / self._name

    def get(self, key: str) -> bytes | None:
        """Return the result of a key, a file name; None if it is not kept."""
        try:
            path = self._folder / key
            content = path.read_bytes()
            os.utime(path)  # it was used
        except (OSError, RuntimeError):  # also of a user without a home
            return None
        kept = content[_DIGEST_BYTES:]
        return kept if content[:_DIGEST_BYTES] == hashlib.sha256(kept).digest() else None

    def put(self, key: str, result: bytes) -> None:
        """Keep a result, if that is possible."""
        with suppress(OSError, RuntimeError):
            self._folder.mkdir(parents=True, exist_ok=True)
            with scratch_folder(self._folder) as scratch:
                (scratch / key).write_bytes(hashlib.sha256(result).digest() + result)
                (scratch / key).replace(self._folder / key)
            kept = [each for each in os.scandir(self._folder) if each.is_file()]
            if len(kept) > self._most:
                for each in sorted(kept, key=lambda each: each.stat().st_mtime)[: len(kept) // 2]:
                    Path(each).unlink()

    def of(self, ingredients: Iterable[bytes], compute: Callable[[], bytes]) -> bytes:
        """Return the result of ingredients, computed now if it is not kept."""
        key = digest(ingredients)
        result = self.get(key)
        if result is None:
            result = compute()
            self.put(key, result)
        return result
