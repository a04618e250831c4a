"""The parameters of ProtoNN that cannot be combined; see `protonn_edge.training.refusals`."""

from __future__ import annotations

from protonn_edge.training.refusals import Refusal, for_devices, without_effect

REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        lambda case: case.predicts == "labels" and case.settings.projection_starts_from("nca"),
        "{init_projection} 'nca' is not possible, because points have sets of labels; train "
        "without it",
    ),
    for_devices(lambda case: case.first_set("budget projection_bits")),
    Refusal(
        lambda case: case.model is not None and case.first_set("clip budget"),
        "{it} is given, but the model to start from has its own sizes and ranges; leave {it} out",
    ),
    without_effect(
        lambda case: case.model is not None,
        "n_prototypes n_projections init_projection init_prototypes gamma gamma_numerator",
        "the model to start from determines the sizes and the initial values",
    ),
    Refusal(
        lambda case: (
            "normalization" in case.given
            and case.settings.normalization != case.settings.normalizer_kind
        ),
        "{normalization} has no effect, because the model to start from has its own; leave "
        "{normalization} out",
    ),
    Refusal(
        lambda case: (
            case.settings.projection_bits != case.settings.weight_bits
            and (case.settings.projection_bits < 8 or "projection_bits" in case.given)
        ),
        "{projection_bits} is {settings.projection_bits}, but the model to start from keeps its "
        "{settings.weight_bits} bits per weight; leave {projection_bits} out",
    ),
    Refusal(
        lambda case: (
            case.settings.budget is not None and case.first_set("n_prototypes n_projections")
        ),
        "{it} is given, but {budget} determines the sizes; leave {it} out",
    ),
)
