"""What is refused for a model that can be taught."""

from __future__ import annotations

from collections.abc import Sequence

from protonn_edge.learn.refusal import Refusal

REFUSALS: Sequence[Refusal] = (
    Refusal(
        lambda case: case.settings.new_classes > 0 and case.settings.teachable == 0,
        "{new_classes} is {settings.new_classes}, but {teachable} is 0; give both",
    ),
)
