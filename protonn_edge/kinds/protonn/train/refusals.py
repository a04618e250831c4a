"""The parameters of ProtoNN that cannot be combined; see `protonn_edge.training.refusals`."""

from __future__ import annotations

from protonn_edge.training.refusals import Refusal, excluded, for_devices, without_effect

REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        lambda case: case.predicts == "labels" and case.settings.projection_starts_from("nca"),
        "{init_projection} 'nca' is not possible, because points have sets of labels; train "
        "without it",
    ),
    for_devices(lambda case: case.first_set("budget projection_bits")),
    excluded(
        lambda case: case.model is not None and case.first_set("clip budget"),
        "the model to start from has its own sizes and ranges",
    ),
    without_effect(
        lambda case: case.model is not None,
        "n_prototypes n_projections init_projection init_prototypes gamma gamma_numerator",
        "the model to start from determines the sizes and the initial values",
    ),
    excluded(
        lambda case: (
            "normalization" in case.given
            and case.settings.normalization != case.settings.normalizer_kind
        ),
        "the model to start from has its own",
        "{normalization}",
    ),
    excluded(
        lambda case: (
            case.settings.projection_bits != case.settings.weight_bits
            and (case.settings.projection_bits < 8 or "projection_bits" in case.given)
        ),
        "the model to start from keeps its {settings.weight_bits} bits per weight",
        "{projection_bits}",
    ),
    excluded(
        lambda case: (
            case.settings.budget is not None and case.first_set("n_prototypes n_projections")
        ),
        "{budget} determines the sizes",
    ),
)
