"""ProtoNN of one class: it learns normal points alone, and rejects all others.

See `docs/rejection.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from protonn_edge.system.extensions import AddedOptions, Extension


class OneClassExtension(Extension):
    """Training on normal points."""

    name: ClassVar[str] = "one_class"
    option_groups: ClassVar[Mapping[str, str]] = {
        "--one-class": "Training",
        "--normal": "Training",
    }

    def options(self, command: str) -> type[AddedOptions] | None:
        """Return the option of `train` that names the normal classes."""
        if command != "train":
            return None
        from protonn_edge.extensions.one_class.commands import NormalOptions

        return NormalOptions


EXTENSION = OneClassExtension()
