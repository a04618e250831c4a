"""The names under which a model's hash knows its parts: the first ones that they had.

The hash stands in results files, in exports and on boards, so no new name may change it. What
`inspect` prints for programs has these names, too.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass

_FIRST_NAMES = {
    "bias": "start",
    "average_pooling": "reduction",
    "AveragePooling": "Reduction",
    "window_features": "pipeline",
    "WindowFeatureStage": "FeaturePipeline",
    "rbf": "kernel",
}


def hashed_name(name: str) -> str:
    """Return what a hash calls a field or a class of this name."""
    return _FIRST_NAMES.get(name, name)


def hashed_text(value: object) -> str:
    """Return a value's ``repr``, in which dataclasses and their fields have their first names."""
    if not is_dataclass(value) or isinstance(value, type):
        return repr(value)
    shown = (
        f"{hashed_name(field.name)}={hashed_text(getattr(value, field.name))}"
        for field in fields(value)
        if field.repr
    )
    return f"{hashed_name(type(value).__name__)}({', '.join(shown)})"
