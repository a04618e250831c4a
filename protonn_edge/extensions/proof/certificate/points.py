"""Claims about given points: how far they may move within their class, and what is clamped."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.extensions.proof.boxes import standing
from protonn_edge.extensions.proof.certificate.claims import MEASURED, Claim
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import counted

_STEPS = 1, 2


def point_claims(model: IntegerChain, X: ArrayLike, Q: NDArray[np.uint8]) -> Iterator[Claim]:
    """Yield the claims about raw points X (n, D) and the bytes (n, D) that a device receives.

    None is about moving points if the answers are no classes, or a stage has no bounds.
    """
    clamped, values = model.quantizer.saturations(X), Q.size
    yield Claim(
        "domain",
        f"{clamped:,} of {counted(values, 'value')} are outside the range of the model's inputs, "
        "by over half a step, and clamped",
        MEASURED,
        "the range of each feature in the model",
        clamped,
        len(Q),
    )
    for steps in _STEPS if model.policy.predicts == "class" else ():
        stands = standing(model, Q, steps)
        if stands is None:
            return
        yield Claim(
            f"stability-{steps}",
            f"the class of {int(stands.sum()):,} of {counted(len(Q), 'point')} is proven to stand "
            f"if every input moves by up to {counted(steps, 'step')}",
            MEASURED,
            "interval arithmetic through the integer model",
            int(stands.sum()),
            len(Q),
        )
