"""Prove, and try, that assembly and portable C agree: all calls, also those that take long."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path

from agreement.agreement import compare, prove
from agreement.sources import cases_of, functions, stage_of


def main() -> int:
    """Print a line per call; return whether any disagrees."""
    parser = argparse.ArgumentParser(prog="agreement", description=__doc__)
    parser.add_argument("functions", nargs="?", default="", help="only those with this in them")
    parser.add_argument("--short", action="store_true", help="as `make test` does")
    parser.add_argument("--lanes", type=int, default=4000, help="states at once")
    options = parser.parse_args()
    wrong = 0
    total = 0.0
    for function in functions():
        if not re.search(options.functions, function.id):
            continue
        if options.short and not function.is_own:
            continue
        with tempfile.TemporaryDirectory() as folder:
            stage = stage_of(function, Path(folder))
        for case in cases_of(function, stage):
            if case.long and options.short:
                continue
            start = time.process_time()
            try:
                if case.proven:
                    done = prove(stage.forms, case.call)
                else:
                    done = compare(stage.forms, case.call, options.lanes)
                said = f"{'proven' if case.proven else 'tried '} {done.steps} instructions"
            except (AssertionError, TimeoutError) as error:
                wrong += not isinstance(error, TimeoutError)
                said = f"NOT {'PROVEN' if case.proven else 'EQUAL'}: {str(error)[:300]}"
            taken = time.process_time() - start
            total += taken
            sys.stdout.write(f"{function.id:60} {taken:7.2f} s {said}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{total:.0f} s\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
