"""Models from elsewhere: the reference implementation's folders."""

from __future__ import annotations

from protonn_edge.conversion.reference import (
    Features,
    from_reference,
    same_answers,
    to_reference,
)

__all__ = ["Features", "from_reference", "same_answers", "to_reference"]
