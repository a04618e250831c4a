"""What is refused for a training on normal points alone."""

from __future__ import annotations

from collections.abc import Sequence

from protonn_edge.training.refusals import (
    AUGMENTED,
    LABEL_SETS,
    OF_OPTIMIZERS,
    Refusal,
    refuse_each,
)

REFUSALS: Sequence[Refusal] = (
    *refuse_each(
        lambda case: case.settings.one_class,
        "{one_class} is set, but <but>; leave {one_class} out, or give points with one label each",
        LABEL_SETS,
    ),
    *refuse_each(
        lambda case: case.settings.one_class,
        "{one_class} is set, but <but>; leave out one of the two",
        AUGMENTED,
        Refusal(
            lambda case: case.settings.initial_model is not None, "there is a model to start from"
        ),
        Refusal(lambda case: case.settings.strangers > 0, "{strangers} is {settings.strangers:g}"),
        Refusal(lambda case: case.settings.clip > 0, "{clip} is {settings.clip:g}"),
        Refusal(
            lambda case: "convolutions" in case.kinds, "learning convolutions needs several classes"
        ),
        Refusal(
            lambda case: case.settings.normalizer_kind == "l2",
            "the {normalization} is l2, which a device cannot compute",
        ),
        Refusal(
            lambda case: case.settings.budget is not None,
            "{budget} divides bytes among several classes",
            ("budget",),
        ),
        Refusal(
            lambda case: (
                isinstance(case.settings.init_projection, str)
                and case.settings.init_projection in ("nca", "sleec")
            ),
            "{init_projection} is {settings.init_projection}, which needs several classes",
            ("init_projection",),
        ),
    ),
    *refuse_each(
        lambda case: case.settings.one_class,
        "{one_class} trains without an optimizer, so <but>; leave out {one_class}, or what needs "
        "an optimizer",
        Refusal(
            lambda case: min(case.settings.sparsity) < 1,
            "the matrices cannot be sparse",
            ("sparsity",),
        ),
        Refusal(
            lambda case: not OF_OPTIMIZERS.isdisjoint(case.given),
            "options such as {epochs} do not apply",
        ),
    ),
    Refusal(
        lambda case: case.settings.one_class and case.settings.new_classes > 0,
        "{new_classes} is {settings.new_classes}, but {one_class} is set; leave one of the two out",
        ("new_classes",),
    ),
)
