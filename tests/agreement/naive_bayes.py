"""How the functions with assembly of naive Bayes are called."""

from __future__ import annotations

from collections.abc import Iterator

from agreement.agreement import Call, To
from agreement.case import Case, Stage


def _score(stage: Stage, function: str) -> Iterator[Case]:
    of = stage.kernel.stage
    table = f"{stage.name}_table"
    maximum = of.input_maximum
    ranges = {("inputs", k, 1): (0, int(maximum)) for k in range(of.n_inputs)}
    call = Call(function, [(To("inputs"), 2)], buffers={"inputs": of.n_inputs}, ranges=ranges,
                tables={table: [None] * stage.table("_table")})  # fmt: skip
    yield Case(call, proven=False)
    # one term of the first and the last class: any bias, mean, weight and input
    row = 4 + 3 * of.n_inputs
    for score, place in ((0, 0), (of.n_outputs - 1, of.n_inputs - 1)):
        content: list[int | None] = [0] * stage.table("_table")
        term = row * score + 4 + 3 * place
        for at in (*range(row * score, row * score + 4), *range(term, term + 3)):
            content[at] = None
        known = [None if k == place else 0 for k in range(of.n_inputs)]
        some = Call(
            function,
            call.arguments,
            0,
            {"inputs": known},
            {("inputs", place, 1): ranges["inputs", place, 1]},
            call.buffers,
            {table: content},
        )
        yield Case(some, proven=False, long=True)  # the solver gives up


CALLS = {"score": _score}

LISTINGS = {
    "kinds.naive_bayes.kernels.loop": "score",
}
