"""Linear scores as sums of tables."""

from __future__ import annotations

from protonn_edge.extensions.proof.forms import SumForm, scaled
from protonn_edge.extensions.proof.reference import Reference, forms
from protonn_edge.kinds.linear.integers import IntegerLinear


@forms.register(IntegerLinear)
def _(stage: IntegerLinear, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
    """Return the scores of bytes."""
    sums = reference.products(stage.weights, stage.bias, inputs)
    return sums if stage.n_outputs == stage.n_sums else [scaled(sums[0], -1), sums[0]]
