"""Prove, and try, that assembly and portable C agree: all calls, also those that take long.

It fails if a call disagrees, and if those for which the solver gives up are not the known ones.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import NamedTuple

from agreement.agreement import compare, prove
from agreement.case import Case, Stage
from agreement.gaps import GAPS
from agreement.sources import Function, cases_of, functions, stage_of
from agreement.symbolic import GaveUp

all_functions = cache(functions)
PROVEN, COMPARED, GAP, UNEQUAL = "proven", "compared", "not proven", "not equal"


class Result(NamedTuple):
    """What came of a call, and whether it fails."""

    kind: str
    text: str
    failed: bool


def main() -> int:
    """Print a line per call; return whether any disagrees, or gives up as none was known to."""
    parser = argparse.ArgumentParser(prog="agreement", description=__doc__)
    parser.add_argument("functions", nargs="?", default="", help="only those with this in them")
    parser.add_argument("--short", action="store_true", help="as `make test` does")
    parser.add_argument("--lanes", type=int, default=4000, help="states at once")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    work = [
        (number, options.lanes, options.short)
        for number, each in enumerate(all_functions())
        if re.search(options.functions, each.id)
        and (each.is_own or not options.short)
        and not each.is_proven
    ]
    results = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for some in pool.map(_of_function, *zip(*work, strict=True)) if work else ():
            results += some
    counts, failures = Counter(each.kind for each in results), sum(each.failed for each in results)
    seconds = sum(os.times()[:4])
    sys.stdout.write(
        f"{len(work)} functions: {counts[PROVEN]} calls proven, {counts[COMPARED]} compared,"
        f" {counts[GAP]} not proven and so compared, {counts[UNEQUAL]} not equal;"
        f" {failures} failures; {seconds / 60:.1f} minutes of CPU time\n"
    )
    return bool(failures)


def _of_function(number: int, lanes: int, short: bool) -> list[Result]:
    return list(_results(all_functions()[number], lanes, short=short))


def _results(function: Function, lanes: int, *, short: bool) -> Iterator[Result]:
    """Prove or try all calls of a function, and print what comes of each."""
    stage = stage_of(function)
    gaps = GAPS.get(function.id, set())
    gc.collect()
    gc.freeze()  # else programs that stay are searched for garbage over and over
    for number, case in enumerate(cases_of(function, stage)):
        if case.long and short:
            continue
        start = time.process_time()
        result = _tried(stage, case, lanes, known_gap=number in gaps)
        taken = time.process_time() - start
        line = f"{function.id:56} {number:3} {taken:7.2f} s {result.kind} {result.text}\n"
        os.write(1, line.encode())  # at once, so that lines of two processes do not mix
        yield result


def _tried(stage: Stage, case: Case, lanes: int, *, known_gap: bool) -> Result:
    """Prove or try a call."""
    forms, call = stage.forms, case.call
    try:
        if not case.proven:
            return Result(COMPARED, f"{compare(forms, call, lanes).steps} instructions", False)
        try:
            done = prove(forms, call, abstract=not case.exact)
        except GaveUp as error:
            compare(forms, call, lanes)
            known = "as is known: " * known_gap
            return Result(GAP, f"{known}{error}", not known_gap)
    except AssertionError as error:
        return Result(UNEQUAL, str(error)[:300], True)
    unlisted = ", though agreement/gaps.py says that it is not" * known_gap
    return Result(PROVEN, f"{done.steps} instructions{unlisted}", known_gap)


if __name__ == "__main__":
    sys.exit(main())
