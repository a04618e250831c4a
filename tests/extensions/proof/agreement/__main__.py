"""Prove programs for every input; prove, and try, that their other assembly and portable C agree.

It fails if a program is not proven, or if one is of which `proven` says that it is not, or if a
call disagrees or is not proven.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from multiprocessing import Pool
from typing import NamedTuple

from extensions.proof.agreement.agreement import compare, prove
from extensions.proof.agreement.case import Case, Stage
from extensions.proof.agreement.proven import (
    UNPROVEN,
    Result,
    left,
    provable,
    prove_program,
    unexecuted,
)
from extensions.proof.agreement.sources import Function, cases_of, stage_of
from laws.conformance.instances import KINDS

from protonn_edge.extensions.proof.forms import Unproven

PROVEN, COMPARED, UNEQUAL = "proven", "compared", "not equal"
UNKNOWN = "neither proven nor refuted"
all_functions = cache(left)


class Called(NamedTuple):
    """What came of a call."""

    kind: str
    text: str

    @property
    def failed(self) -> bool:
        """Whether the forms do not agree, or may not."""
        return self.kind in {UNEQUAL, UNKNOWN}


def main() -> int:
    """Print a line per program and call; return whether any is not as it should be."""
    parser = argparse.ArgumentParser(prog="agreement", description=__doc__)
    parser.add_argument("functions", nargs="?", default="", help="only those with this in them")
    parser.add_argument("--only", choices=("programs", "calls"), help="one of the two parts")
    parser.add_argument("--lanes", type=int, default=4000, help="states at once")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    wrong = 0
    # what a program has filled the memory with goes with the process
    with Pool(options.jobs, maxtasksperchild=1) as pool:
        if options.only != "calls":
            names = [name for kind in KINDS for name in provable(kind)]
            some = [name for name in names if re.search(options.functions, name)]
            wrong += _programs(pool.imap(prove_program, some), everything=some == names)
        if options.only != "programs":
            work = [
                (number, options.lanes)
                for number, each in enumerate(all_functions())
                if re.search(options.functions, each.id)
            ]
            wrong += _calls(pool.imap(_of_function, work), len(work))
    sys.stdout.write(f"{sum(os.times()[:4]) / 60:.1f} minutes of CPU time\n")
    return bool(wrong)


def _programs(results: Iterable[Result], *, everything: bool) -> int:
    """Print what comes of the proof of each program; return how many are not as is known."""
    done = []
    for each in results:
        done.append(each)
        what = f"not proven: {each.reason}" if each.reason else PROVEN
        known = "" if each.is_known else f"; agreement/proven.py: {UNPROVEN.get(each.name, PROVEN)}"
        sys.stdout.write(f"{each.name:56} {each.seconds:11.2f} s {what}{known}\n")
        sys.stdout.flush()
    proven, wrong = (sum(not e.reason for e in done), sum(not e.is_known for e in done))
    sys.stdout.write(f"{proven} of {len(done)} programs proven; {wrong} failures\n")
    if everything:
        for name in unexecuted(done):
            sys.stdout.write(f"{name}: no proof has executed it\n")
            wrong += 1
    return wrong


def _calls(results: Iterable[list[Called]], functions: int) -> int:
    """Print how many calls there are of each kind; return how many do not agree."""
    called = [each for some in results for each in some]
    counts, failures = Counter(each.kind for each in called), sum(each.failed for each in called)
    sys.stdout.write(
        f"{functions} other functions: {counts[PROVEN]} calls proven, {counts[COMPARED]} compared,"
        f" {counts[UNEQUAL]} not equal; {failures} failures\n"
    )
    return failures


def _of_function(work: tuple[int, int]) -> list[Called]:
    number, lanes = work
    return list(_results(all_functions()[number], lanes))


def _results(function: Function, lanes: int) -> Iterator[Called]:
    """Prove or try all calls of a function, and print what comes of each."""
    stage = stage_of(function)
    gc.collect()
    gc.freeze()  # else programs that stay are searched for garbage over and over
    for number, case in enumerate(cases_of(function, stage)):
        start = time.process_time()
        result = _tried(stage, case, lanes)
        taken = time.process_time() - start
        line = f"{function.id:56} {number:3} {taken:7.2f} s {result.kind} {result.text}\n"
        os.write(1, line.encode())  # at once, so that lines of two processes do not mix
        yield result


def _tried(stage: Stage, case: Case, lanes: int) -> Called:
    """Prove or try a call."""
    forms, call = stage.forms, case.call
    try:
        if case.proven:
            done = prove(forms, call)
            return Called(PROVEN, f"{done.steps} instructions")
        return Called(COMPARED, f"{compare(forms, call, lanes).steps} instructions")
    except Unproven as error:
        return Called(UNKNOWN, str(error))
    except AssertionError as error:
        return Called(UNEQUAL, str(error)[:300])


if __name__ == "__main__":
    sys.exit(main())
