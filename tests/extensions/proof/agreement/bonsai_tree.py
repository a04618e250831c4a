"""How the functions with assembly of a tree of gated sums are called."""

from __future__ import annotations

from collections.abc import Iterator

from extensions.proof.agreement.call import Call, To
from extensions.proof.agreement.case import Case, Stage, ends_of


def walk(stage: Stage, function: str) -> Iterator[Case]:
    """Yield points with any inputs."""
    of = stage.kernel.stage
    ends = enumerate(ends_of(of.feed, of.n_inputs))
    ranges = {("inputs", k, 1): each for k, each in ends}
    buffers, points = {"inputs": of.n_inputs}, {"inputs": stage.inputs}
    call = Call(function, [(To("inputs"), 2)], 0, {}, ranges, buffers, points=points)
    yield Case(call, proven=False)


CALLS = {"walk": walk}
