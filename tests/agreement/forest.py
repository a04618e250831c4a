"""How the functions with assembly of a forest are called."""

from __future__ import annotations

from collections.abc import Iterator

from agreement.agreement import Call, To
from agreement.case import Case, Stage, ends_of


def walk(stage: Stage, function: str) -> Iterator[Case]:
    """Yield points with any inputs, and with one that may be any."""
    of = stage.kernel.stage
    count = of.n_inputs
    ends = ends_of(of.feed, count) if hasattr(of, "feed") else [(0, 255)] * count
    ranges = {("inputs", k, 1): each for k, each in enumerate(ends)}
    points = {} if stage.inputs is None else {"inputs": stage.inputs}
    call = Call(function, [(To("inputs"), 2)], 0, {}, ranges, {"inputs": count}, points=points)
    yield Case(call, proven=False)
    # one input may be any, the others are at an end of their ranges: the levels that read it
    for end in (0, 1) if stage.kernel.stage.kind == "forest" else ():
        for place in range(count):
            known = [None if k == place else ends[k][end] & 255 for k in range(count)]
            own = {("inputs", place, 1): ranges["inputs", place, 1]}
            some = Call(function, call.arguments, 0, {"inputs": known}, own, call.buffers)
            yield Case(some, long=place > 0)


CALLS = {"score": walk}

LISTINGS = {
    "kinds.forest.if_else.written": "score",
    "kinds.forest.packed_kernel.listing": "score",
    "kinds.forest.walk.listing": "score",
}
