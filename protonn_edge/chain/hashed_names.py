"""The names of a model's parts in its hash, which never change.

The hash is stored in results files, exports and on boards, so renaming must not change it. The JSON
of `inspect` uses these names, too.
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
    """Return the name of a field or a class in a hash."""
    return _FIRST_NAMES.get(name, name)


def hashed_text(value: object) -> str:
    """Return a value's ``repr``, with the hash's names of dataclasses and fields."""
    if not is_dataclass(value) or isinstance(value, type):
        return repr(value)
    shown = (
        f"{hashed_name(field.name)}={hashed_text(getattr(value, field.name))}"
        for field in fields(value)
        if field.repr
    )
    return f"{hashed_name(type(value).__name__)}({', '.join(shown)})"
