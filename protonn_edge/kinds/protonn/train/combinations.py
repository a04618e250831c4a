"""The parameters of ProtoNN that cannot be combined; see `protonn_edge.training.refusals`."""

from __future__ import annotations

from protonn_edge.training.refusals import Apart, Refusal, Row

REFUSALS: tuple[Row, ...] = (
    Apart(
        "n_prototypes n_projections init_projection init_prototypes gamma gamma_numerator",
        "initial_model",
        lambda model: model is None,
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
    Apart(
        "n_prototypes n_projections",
        "budget",
        lambda budget: budget is None,
        "{budget} determines the sizes",
        has_no_effect=False,
    ),
    Apart(
        "strangers",
        "loss",
        lambda loss: loss != "neighbour_likelihood",
        "the likelihood of neighbours is not defined for points without a class",
        has_no_effect=False,
    ),
)
