"""What is refused, or remarked on, before a model that can be taught is trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from protonn_edge.learn.refusal import Refusal
from protonn_edge.system.errors import CheckFailed

if TYPE_CHECKING:
    from protonn_edge.data.naming import Notice

REFUSALS: Sequence[Refusal] = (
    Refusal(
        lambda case: case.settings.new_classes > 0 and case.settings.teachable == 0,
        "{new_classes} is {settings.new_classes}, but {teachable} is 0; give both",
    ),
)


def notices(settings: Any, n_projections: int) -> list[Notice]:
    """Return a warning if an Uno's EEPROM is too small for what --teachable reserves."""
    if not settings.teachable:
        return []
    from protonn_edge.chips.boards import load_board
    from protonn_edge.data.naming import Notice
    from protonn_edge.extensions.teaching.protonn.model import Teachable

    try:
        store = Teachable(settings.teachable).integers(1)
        store.check_eeprom(n_projections, load_board("uno"))
    except CheckFailed as error:
        return [Notice("eeprom", f"{error}, or build for another board", warning=True)]
    return []
