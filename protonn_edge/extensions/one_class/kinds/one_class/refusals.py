"""What is refused for a training on normal points alone."""

from __future__ import annotations

from collections.abc import Sequence

from protonn_edge.learn.refusal import Refusal, excluded, without_effect

REFUSALS: Sequence[Refusal] = (
    excluded(
        lambda case: (
            case.settings.one_class
            and case.first_set(
                "clip "
                * case.clips
                + "augment strangers initial_model budget new_classes sparsity_projection "
                "sparsity_prototypes sparsity_labels"
            )
        ),
        "{one_class} learns from normal points, without other points or an optimizer",
    ),
    without_effect(
        lambda case: case.settings.one_class,
        "epochs optimizer loss batch_size learning_rate input_noise quantization_aware trained "
        "iterations pass_epochs step_sizes gamma_numerator",
        "{one_class} trains without an optimizer",
    ),
    Refusal(
        lambda case: (
            case.settings.one_class and case.asked is not None and case.asked.learns_from_classes
        ),
        "{features} are learned from several classes, but {one_class} is set; leave out one of the "
        "two",
    ),
    Refusal(
        lambda case: (
            case.settings.one_class and case.settings.projection_starts_from("nca", "sleec")
        ),
        "{init_projection} is {settings.init_projection}, which needs several classes, but "
        "{one_class} is set; leave out one of the two",
    ),
)
