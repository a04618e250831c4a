"""The parameters of ProtoNN that cannot be combined; see `protonn_edge.learn.refusals`."""

from __future__ import annotations

from protonn_edge.learn.refusal import Refusal, TrainingRequest, excluded, without_effect


def _of_the_model(case: TrainingRequest) -> str:
    """Return what is given, although the model to start from has it already."""
    settings = case.settings
    if case.model is None:
        return ""
    if settings.projection_bits != settings.weight_bits and case.first_set("projection_bits"):
        return "{projection_bits}"
    if "normalization" in case.given and settings.normalization != settings.normalizer_kind:
        return "{normalization}"
    return "{clip}" if case.clips else case.first_set("budget")


REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        lambda case: case.predicts == "labels" and case.settings.projection_starts_from("nca"),
        "{init_projection} 'nca' is not possible, because points have sets of labels; train "
        "without it",
    ),
    excluded(_of_the_model, "the model to start from has its own sizes, ranges and bits"),
    without_effect(
        lambda case: case.model is not None,
        "n_prototypes n_projections init_projection init_prototypes gamma gamma_numerator",
        "the model to start from determines the sizes and the initial values",
    ),
    without_effect(
        lambda case: case.settings.gamma is not None,
        "gamma_numerator",
        "{gamma} is the initial width already",
    ),
    without_effect(
        lambda case: case.settings.projection_starts_from("identity"),
        "n_projections",
        "{init_projection} 'identity' keeps all features",
    ),
    excluded(
        lambda case: (
            case.settings.budget is not None and case.first_set("n_prototypes n_projections")
        ),
        "{budget} determines the sizes",
    ),
)
