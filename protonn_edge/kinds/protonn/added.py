"""The parameters that extensions add to ProtoNN's; `added.pyi` names them to type checkers."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.kinds.protonn.additions import protonn_additions
from protonn_edge.kinds.protonn.defaults import ProtoNNDefaults

# of what may vote beside the prototypes, or train in another way
_ADDED: tuple[type[object], ...] = tuple(
    kind for added in protonn_additions().values() if (kind := added.parameters()) is not None
)


@dataclass(kw_only=True, eq=False, repr=False)
class AddedParameters(*_ADDED, ProtoNNDefaults):
    """The parameters of all extensions."""
