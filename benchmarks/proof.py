"""Which linked programs are proven to compute their models for every input, and how fast.

    python benchmarks/proof.py [--only KIND] [--flags FLAGS] [--mcu CHIP] [--limit SECONDS]
                               [--summary | --json]

A row is a program of tests/conformance: each kind of stage with every kernel and way of feeding.
*proven* is the seconds of a process of its own, with its CPU time and memory, or empty; then the
last column has the reason. Compiling is not counted. With --summary, a row is a kind.
"""

from __future__ import annotations

import multiprocessing
import re
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import rounding  # noqa: F401 - before NumPy
import click
from conformance.instances import KINDS, programs_of
from extensions.proof.equality.programs import linked
from printing import Record, figure_cell, print_table

from protonn_edge.extensions.proof.equality import PredictionProof
from protonn_edge.extensions.proof.forms import Unproven
from protonn_edge.system.errors import ProtoNNEdgeError

_MOST_BYTES = 4 << 30
_MEASURED = "seconds", "megabytes"
COLUMNS = [
    ("program", lambda record: f"{record['kind']} {record['number']}"),
    ("what", lambda record: record["what"]),
    ("proven, s", figure_cell("seconds", ".1f")),
    ("MB", figure_cell("megabytes", ".0f")),
    ("instructions", figure_cell("instructions", ",")),
    ("not proven, because", lambda record: record.get("reason", "")),
]
SUMMARY = [
    ("kind", lambda record: record["kind"]),
    ("proven", lambda record: f"{record['proven']} of {record['programs']}"),
    ("s, at most", figure_cell("seconds", ".1f")),
    ("MB, at most", figure_cell("megabytes", ".0f")),
    ("not proven, because", lambda record: "; ".join(record["reasons"])),
]
_PLACE = re.compile(r" \(\w+ at 0x.*")  # in a reason


def summary(kind: str, records: Iterable[Record]) -> Record:
    """Return the record of a kind."""
    programs = [*records]
    proven = [each for each in programs if "reason" not in each]
    most = {name: max((each[name] for each in proven), default=None) for name in _MEASURED}
    reasons = Counter(_PLACE.sub("", each["reason"]) for each in programs if "reason" in each)
    return {
        "kind": kind, "programs": len(programs), "proven": len(proven), **most,
        "reasons": [f"{count} {reason}" for reason, count in reasons.most_common()],
    }  # fmt: skip


def measure(kind: str, number: int, flags: str, mcu: str, limit: int) -> Record:
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


@click.command()
@click.option("--only", type=click.Choice(KINDS), help="One kind of stage.")
@click.option("--flags", default="-O2", show_default=True, help="Of avr-gcc.")
@click.option("--mcu", default="atmega328p", show_default=True, help="The chip.")
@click.option("--limit", default=120, show_default=True, help="CPU seconds of a program.")
@click.option("--summary", "summarized", is_flag=True, help="Print a row for each kind.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(
    only: str | None, flags: str, mcu: str, limit: int, summarized: bool, as_json: bool
) -> None:
    """Print what is proven of each program of conformance."""

    def records(kind: str) -> Iterator[Record]:
        for number in range(len(programs_of(kind))):
            yield measure(kind, number, flags, mcu, limit)

    kinds = [only] if only else KINDS
    if summarized:
        print_table((summary(kind, records(kind)) for kind in kinds), SUMMARY, as_json)
    else:
        print_table((each for kind in kinds for each in records(kind)), COLUMNS, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
