"""ProtoNN of one class: it learns normal points alone, and rejects all others.

See `docs/rejection.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from protonn_edge.system.extensions import Extension


class OneClassExtension(Extension):
    """Training on normal points."""

    name: ClassVar[str] = "one_class"
    options: ClassVar[Mapping[str, str]] = {"train": "commands:NormalOptions"}
    additions: ClassVar[Mapping[str, str]] = {"protonn": "addition:OneClassProtoNN"}

    def option_groups(self) -> Mapping[str, str]:
        """Return the group of its options."""
        return {"--one-class": "Training", "--normal": "Training"}


EXTENSION = OneClassExtension()
