"""The parts of this package that may have been removed, and the sentence that reports one.

Nothing else knows what belongs to a part that is not there.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]

# By the name of a part: its folder or module, and the options and commands that it brings.
_PARTS = {
    "cascades": ("kinds.cascade", "--then --pass-on"),
    "certificates": ("certificate", "--entry --points --prove --every-input --check"),
    "conversion": ("conversion", "convert"),
    "editing": ("editing", "takes"),
    "float builds": ("kinds.protonn.precision", "--precision"),
    "one-class learning": (
        "kinds.protonn.one_class",
        "--one-class --all-classes --normal",
    ),
    "the paper's optimizer": ("kinds.protonn.paper", "--optimizer"),
    "meters": ("device.meters", "--meter"),
    "observation": ("observation", "--observe --health"),
    "numeric prediction": ("policy.value", "--target"),
    "rejection": ("policy.rejection", "--rejection --rejection-by"),
    "reports": ("report", "report"),
    "searches": ("tuning", "tune"),
    "sensors": ("sensors", "record windows monitor --sensor"),
    "the studio": ("studio", "studio"),
    "speech": ("speech", "speak"),
    "teaching": ("teaching", "--teachable --new-classes --teach"),
}


def not_installed(part: str) -> str:
    """Return the sentence that a part of this package, named in the text, was removed."""
    verb = "are" if part.endswith("s") else "is"
    return f"{part} {verb} not installed; install protonn-edge again, with all its parts"


def exists(module: str) -> bool:
    """Return whether a module or package is there, by its name below this package."""
    place = _PACKAGE.joinpath(*module.split("."))
    return place.with_suffix(".py").exists() or place.is_dir()


def missing(words: Iterable[str]) -> str | None:
    """Return a sentence if a word is an option or a command of an absent part, else None."""
    for word in words:
        for part, (module, own) in _PARTS.items():
            if word in own.split() and not exists(module):
                return not_installed(part)
    return None


def missing_of_file(names: Iterable[str]) -> str | None:
    """Return a sentence if a part that a model's file names, or an array's, is absent."""
    for name in names:
        part = name.partition(".")[0]
        if part in _PARTS and not exists(_PARTS[part][0]):
            return not_installed(part)
    return None
