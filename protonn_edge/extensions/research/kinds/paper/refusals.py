"""What is refused for the paper's optimizer and losses, or without them."""

from __future__ import annotations

from collections.abc import Sequence

from protonn_edge.learn.refusal import Refusal, excluded, without_effect

REFUSALS: Sequence[Refusal] = (
    without_effect(
        lambda case: case.settings.optimizer != "joint",
        "epochs learning_rate input_noise quantization_aware",
        "only the joint {optimizer} uses it",
    ),
    excluded(
        lambda case: case.settings.optimizer != "joint" and case.first_set("augment strangers"),
        "the alternating {optimizer} takes points as they are",
    ),
    Refusal(
        lambda case: (
            case.in_groups
            and case.settings.group_shift > 0
            and case.settings.optimizer == "alternating"
        ),
        "{group_shift} is {settings.group_shift:g}, but the alternating {optimizer} takes points "
        "as they are; set {group_shift} to 0, or leave the groups out",
    ),
    excluded(
        lambda case: case.settings.loss == "neighbour_likelihood" and case.first_set("strangers"),
        "the likelihood of neighbours is not defined for points without a class",
    ),
)
