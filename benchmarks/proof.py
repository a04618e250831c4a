"""Which linked programs are proven to compute their models for every input, and how fast.

A row is a program of tests/laws/conformance: each kind of stage with every kernel and way of
feeding. *proven* is the seconds of a process of its own, with its CPU time and memory, or empty;
then the last column has the reason. Compiling is not counted. In `proven`, a row is a kind.
"""

from __future__ import annotations

import multiprocessing
import re
import resource
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from columns import Column, Record, figure
from extensions.proof.equality.programs import linked
from laws.conformance.instances import KINDS, programs_of
from runner import Benchmark, Case

from protonn_edge.extensions.proof.equality import PredictionProof
from protonn_edge.extensions.proof.forms import Unproven

_MOST_BYTES = 4 << 30
_MEASURED = "seconds", "megabytes"
_PLACE = re.compile(r" \(\w+ at 0x.*")  # in a reason


def programs(case: Case, **options: Any) -> Iterator[Record]:
    """Yield the record of each program of a kind."""
    for number in range(len(programs_of(case.name))):
        yield proven(case.name, number, **options)


def summary(case: Case, **options: Any) -> Record:
    """Return the record of a kind."""
    every = [*programs(case, **options)]
    proven = [each for each in every if "reason" not in each]
    most = {name: max((each[name] for each in proven), default=None) for name in _MEASURED}
    reasons = Counter(_PLACE.sub("", each["reason"]) for each in every if "reason" in each)
    return {
        "kind": case.name,
        "proven": f"{len(proven)} of {len(every)}",
        "reason": "; ".join(f"{count} {reason}" for reason, count in reasons.most_common()),
        **most,
    }


def proven(kind: str, number: int, flags: str, mcu: str, limit: int) -> Record:
    """Return the record of a program, which is proven in a process of its own."""
    program = programs_of(kind)[number]
    kernels = ", ".join(each.name for each in program.plan.kernels[:-1])
    record: Record = {
        "kind": kind, "number": number, "flags": flags, "mcu": mcu,
        "what": f"{program.instance.name} ({kernels})",
    }  # fmt: skip
    receiving, sending = multiprocessing.Pipe(duplex=False)
    arguments = kind, number, flags, mcu, limit, sending
    process = multiprocessing.get_context("fork").Process(target=_prove, args=arguments)
    process.start()
    sending.close()
    try:
        record |= receiving.recv()
    except EOFError:
        process.join()
        if process.exitcode != -signal.SIGXCPU:
            raise
        record["reason"] = f"it takes more than {limit} s"
    process.join()
    return record


def _prove(kind: str, number: int, flags: str, mcu: str, limit: int, sending: Any) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    program = programs_of(kind)[number]
    model = program.instance.model
    with TemporaryDirectory() as folder:
        binary = linked(model, program.plan, Path(folder), *flags.split(), mcu=mcu)
    start = time.process_time()
    record: Record = {}
    try:
        proof = PredictionProof(binary, model).proof()
        record |= {"seconds": round(time.process_time() - start, 2), "instructions": proof.steps}
    except Unproven as reason:
        record["reason"] = str(reason)
    except MemoryError:
        record["reason"] = f"it needs more than {_MOST_BYTES >> 30} GB"
    usage = resource.getrusage(resource.RUSAGE_SELF)
    sending.send(record | {"megabytes": usage.ru_maxrss / 1024})


_MOST = (figure("s", "seconds", ".1f"), figure("MB", "megabytes", ".0f"))
_OPTIONS = (
    click.option("--flags", default="-O2", show_default=True, help="Of avr-gcc."),
    click.option("--mcu", default="atmega328p", show_default=True, help="The chip."),
    click.option("--limit", default=120, show_default=True, help="CPU seconds of a program."),
)
CASES = [Case(kind) for kind in KINDS]
BENCHMARKS = {
    "proof": Benchmark(
        "Which programs of conformance are proven for every input, and how fast.",
        CASES,
        (
            Column("program", lambda r: f"{r['kind']} {r['number']}"),
            *(figure("what", "what"), *_MOST, figure("instructions", "instructions", ",")),
            figure("not proven, because", "reason"),
        ),
        programs,
        options=_OPTIONS,
    ),
    "proven": Benchmark(
        "How many programs of each kind are proven, and the most that one takes.",
        CASES,
        (
            *(figure("kind", "kind"), figure("proven", "proven"), *_MOST),
            figure("not proven, because", "reason"),
        ),
        summary,
        options=_OPTIONS,
    ),
}
