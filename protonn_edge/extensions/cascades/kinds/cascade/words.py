"""A cascade on chips of 32 bits: the functions of both models, with arrays of their own."""

from __future__ import annotations

from protonn_edge.codegen.kernels.words import Words, words_of
from protonn_edge.extensions.cascades.kinds.cascade.integers import (
    IntegerCascade,
    PartStages,
)


def words(stage: IntegerCascade) -> Words:
    """Return the bytes of both models, and of the arrays between their stages."""
    parts = stage.first, stage.second
    every = [words_of(each) for part in parts for each in part.stages]
    sizes = [_between(part) for part in parts]
    arrays = [max(each) for each in zip(*sizes, strict=True)]
    return Words(
        scratch_bytes=max(each.scratch_bytes for each in every),
        own_bytes=sum(each.own_bytes for each in every)
        + sum(map(sum, sizes))
        + stage.n_outputs * stage.output.bits // 8,
        other_bytes=sum(each.n_bytes for each in every),
        more={"between": arrays},
    )


def _between(part: PartStages) -> tuple[int, int]:
    """Return the bytes of the two arrays that stages write in turns."""
    sizes = [each.n_outputs for each in part.stages[:-1]]
    return max(sizes[::2], default=0), max(sizes[1::2], default=0)
