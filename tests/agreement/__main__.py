"""Prove, and try, that assembly and portable C agree: all calls, also those that take long.

It fails if a call disagrees, and if those for which the solver gives up are not the known ones.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator

from agreement.agreement import compare, prove
from agreement.calls import Case, Stage
from agreement.gaps import GAPS
from agreement.sources import Function, cases_of, functions, stage_of
from agreement.symbolic import GaveUp


def main() -> int:
    """Print a line per call; return whether any disagrees, or gives up as none was known to."""
    parser = argparse.ArgumentParser(prog="agreement", description=__doc__)
    parser.add_argument("functions", nargs="?", default="", help="only those with this in them")
    parser.add_argument("--short", action="store_true", help="as `make test` does")
    parser.add_argument("--lanes", type=int, default=4000, help="states at once")
    options = parser.parse_args()
    failures, start = 0, time.process_time()
    for function in functions():
        if re.search(options.functions, function.id) and (function.is_own or not options.short):
            failures += sum(_failures(function, options.lanes, short=options.short))
    sys.stdout.write(f"{time.process_time() - start:.0f} s, {failures} failures\n")
    return bool(failures)


def _failures(function: Function, lanes: int, *, short: bool) -> Iterator[int]:
    """Yield 1 for each call of a function that fails, and 0 for the others."""
    stage = stage_of(function)
    gaps = GAPS.get(function.id, set())
    for number, case in enumerate(cases_of(function, stage)):
        if case.long and short:
            continue
        start = time.process_time()
        status, failed = _tried(stage, case, lanes, known_gap=number in gaps)
        taken = time.process_time() - start
        sys.stdout.write(f"{function.id:56} {number:3} {taken:7.2f} s {status}\n")
        sys.stdout.flush()
        yield failed


def _tried(stage: Stage, case: Case, lanes: int, *, known_gap: bool) -> tuple[str, bool]:
    """Prove or try a call; return what is to be said of it, and whether it fails."""
    forms, call = stage.forms, case.call
    try:
        if not case.proven:
            return f"tried {compare(forms, call, lanes).steps} instructions", False
        try:
            done = prove(forms, call, abstract=not case.exact)
        except GaveUp as error:
            compare(forms, call, lanes)
            return f"NOT PROVEN{', as is known' * known_gap}: {error}", not known_gap
    except AssertionError as error:
        return f"NOT EQUAL: {str(error)[:300]}", True
    unlisted = ", though agreement/gaps.py says that it is not" * known_gap
    return f"proven {done.steps} instructions{unlisted}", known_gap


if __name__ == "__main__":
    sys.exit(main())
