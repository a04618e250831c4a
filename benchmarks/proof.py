"""Which linked programs are proven to compute their models for every input, and how fast.

    python benchmarks/proof.py [--only KIND] [--flags FLAGS] [--mcu CHIP] [--limit SECONDS] [--json]

A row is a program of tests/conformance: each kind of stage with every kernel and way of feeding.
*proven* is the seconds of a process of its own, with its CPU time and memory, or empty; then the
last column has the reason. Compiling is not counted.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import rounding  # noqa: F401 - before NumPy
import click
from conformance.instances import KINDS, programs_of
from equality.programs import linked
from printing import Record, figure_cell, print_table

from protonn_edge.errors import ProtoNNEdgeError
from protonn_edge.proof.equality import PredictionProof
from protonn_edge.proof.forms import Unproven

_MOST_BYTES = 4 << 30
COLUMNS = [
    ("program", lambda record: f"{record['kind']} {record['number']}"),
    ("what", lambda record: record["what"]),
    ("proven, s", figure_cell("seconds", ".1f")),
    ("MB", figure_cell("megabytes", ".0f")),
    ("instructions", figure_cell("instructions", ",")),
    ("not proven, because", lambda record: record.get("reason", "")),
]


def measure(kind: str, number: int, flags: str, mcu: str, limit: float) -> Record:
    """Return the record of a program, which is proven in a process of its own."""
    program = programs_of(kind)[number]
    kernels = ", ".join(each.name for each in program.plan.kernels[:-1])
    record: Record = {
        "kind": kind, "number": number, "flags": flags, "mcu": mcu,
        "what": f"{program.instance.name} ({kernels})",
    }  # fmt: skip
    receiving, sending = multiprocessing.Pipe(duplex=False)
    arguments = kind, number, flags, mcu, sending
    process = multiprocessing.get_context("fork").Process(target=_prove, args=arguments)
    process.start()
    sending.close()
    if receiving.poll(limit):
        try:
            record |= receiving.recv()
        except EOFError:
            record["reason"] = f"it needs more than {_MOST_BYTES >> 30} GB"
    else:
        record["reason"] = f"it takes more than {limit:g} s"
        process.kill()
    process.join()
    return record


def _prove(kind: str, number: int, flags: str, mcu: str, sending: Any) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
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
@click.option("--limit", default=120.0, show_default=True, help="Seconds of a program.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, flags: str, mcu: str, limit: float, as_json: bool) -> None:
    """Print what is proven of each program of conformance."""

    def records() -> Iterator[Record]:
        for kind in [only] if only else KINDS:
            for number in range(len(programs_of(kind))):
                yield measure(kind, number, flags, mcu, limit)

    print_table(records(), COLUMNS, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
