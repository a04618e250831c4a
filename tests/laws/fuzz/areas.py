"""The areas of the fuzzers: each module that defines ``run_case``, here and of extensions.

``run_case(seed, folder)`` makes one case of ``numpy.random.default_rng(seed)``, has an empty folder
for its files, and raises `AssertionError` with one line for a finding. Any other exception is one
too, and so is a warning; `avr_tools.skip_without` skips the area. A module may define

- ``BRIEF_CASES``: how many cases the tests run, every second one of them on a push,
- ``DEADLINE_S``: how long a case may take,
- ``MEMORY_LIMIT_BYTES``: how much memory this process may have in use.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from extension_parts import TESTS, folders, name_of

_BRIEF_CASES = 5


@dataclass(frozen=True)
class Limits:
    """What a case may take: seconds, and bytes of this process."""

    seconds: float = 60.0
    memory_bytes: int = 2 << 30


@dataclass(frozen=True)
class Area:
    """A module with cases; it is loaded when it is first needed."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def module(self) -> ModuleType:
        own = self.path.is_relative_to(TESTS)
        name = name_of(self.path) if own else f"{__package__}.{self.name}"
        if name not in sys.modules:
            spec = importlib.util.spec_from_file_location(name, self.path)
            assert spec is not None
            assert spec.loader is not None
            sys.modules[name] = importlib.util.module_from_spec(spec)
            try:
                spec.loader.exec_module(sys.modules[name])
            except BaseException:
                del sys.modules[name]
                raise
        return sys.modules[name]

    @property
    def brief_cases(self) -> int:
        return int(getattr(self.module, "BRIEF_CASES", _BRIEF_CASES))

    @property
    def limits(self) -> Limits:
        default = Limits()
        return Limits(
            getattr(self.module, "DEADLINE_S", default.seconds),
            getattr(self.module, "MEMORY_LIMIT_BYTES", default.memory_bytes),
        )

    def finding(self, seed: int, scratch: Path) -> str | None:
        """Run one case in a new folder in `scratch`; return what was found, in one line."""
        folder = Path(tempfile.mkdtemp(dir=scratch))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                self.module.run_case(seed, folder)
        except AssertionError as error:
            return _line(error)
        except Exception as error:  # noqa: BLE001  (that there is none is what is tested)
            return f"{type(error).__name__}: {_line(error)}"
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return None


def find_areas(folder: Path | None = None) -> list[Area]:
    """Return the areas of a folder, or all of them, by their names, without loading them."""
    places = folders("fuzz") if folder is None else [folder]
    return [
        Area(path)
        for path in sorted(
            (path for place in places for path in place.glob("*.py")), key=lambda path: path.name
        )
        if "\ndef run_case(" in path.read_text(encoding="utf-8")
    ]


def _line(error: Exception) -> str:
    """Return an error's words in one line, and the place in this project that it comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "site-packages" not in frame.filename] or frames
    words = " ".join(str(error).split())[:300]
    return f"{words} ({Path(own[-1].filename).name}:{own[-1].lineno})"
