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
    option_groups: ClassVar[Mapping[str, str]] = {
        "--one-class": "Training",
        "--normal": "Training",
    }


EXTENSION = OneClassExtension()
