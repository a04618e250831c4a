"""Put faults into linked programs: the checker accepts none, unless no answer changes.

    PYTHONPATH=tests python -m equality.checking [--count FAULTS] [--seed SEED] [NUMBER]...

The faults are those of `faults`, in linear programs of conformance. The checker refuses a program,
or runs show that it differs; an accepted one also runs on points that `faults` draws.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import numpy as np
from avr_programs import compile_text
from extensions.proof.equality import faults
from generated_programs import answers_in_bytes

from protonn_edge.extensions.proof.checker.chip import NotSeparable
from protonn_edge.extensions.proof.checker.separable import check_separable, deciding_points
from protonn_edge.model.integer_chain import IntegerChain

EXAMPLES = ["9", "10", "2", "8", "4"]
_ONE_INPUT = """
    for (uint16_t i = 0; i < PNN_FEATURES; ++i) {{
        for (uint16_t value = i > 0; value <= PNN_INPUT_MAXIMUM; ++value) {{
            features[i] = (pnn_input_t)value;
            const uint8_t label = pnn_predict(features);
            send(label, pnn_scores(), PNN_CLASSES * sizeof(pnn_score_t));
        }}
        features[i] = 0;
    }}
"""


class CheckedSubject(faults.Subject):
    """A linked program whose faults the checker has to find."""

    def __init__(self, number: int, folder: Path) -> None:
        super().__init__("linear", number, folder)
        self.deciding = deciding_points(self.model)
        self.points = np.concatenate([self.deciding, self.points])
        self.answers = answers_in_bytes(self.model, self.points)
        text = faults.PROGRAM.replace("begin();", f"begin();{_ONE_INPUT}")
        text = text.format(**faults.SETTINGS)
        self.elf = compile_text(text, folder / "checked.elf", "-O2", "pnn_model.c")
        self.most_cycles = 2 * self.cycles()
        self.program = faults.read_program(self.elf)
        proof = faults.PredictionProof(self.program, self.model)
        proof.proof()
        self.executed, self.tables = (
            sorted(proof.machine.executed),
            sorted(proof.machine.flash_read),
        )

    def judged(self, address: int, new: bytes, number: int) -> str:
        """Return what becomes of a fault."""
        code, elf = self.program.code, self.folder / f"fault{number % 2}.elf"
        if code[address : address + len(new)] == new:
            return "no fault"
        code = code[:address] + new + code[address + len(new) :]
        try:
            check_separable(dataclasses.replace(self.program, code=code), self.model)
        except NotSeparable:
            return "refused"
        elf.write_bytes(faults.patched(self.elf, address, new))
        if not self.is_right(elf, len(self.deciding)):
            return "rejected by runs"
        right = self.is_right(elf, len(self.points))
        return "accepted, all points are equal" if right else "MISSED"

    def judged_other(self, other: IntegerChain) -> str:
        """Return whether the program is taken for one of this other model."""
        answers = answers_in_bytes(other, self.points)
        n = len(self.deciding)
        if answers[:n] != self.answers[:n]:
            return "another model is rejected by runs"
        return "accepted, all points are equal" if answers == self.answers else "MISSED"


def run(number: int, count: int, seed: int = 0) -> Counter[str]:
    """Put faults into a program; return how many had which end."""
    with TemporaryDirectory() as folder:
        subject = CheckedSubject(number, Path(folder))
        check_separable(subject.program, subject.model)
        return faults.tallied(subject, random.Random(f"{number} {seed}"), count)


@click.command()
@click.option("--count", default=200, show_default=True, help="Faults of each program.")
@click.option("--seed", default=0, show_default=True)
@click.argument("numbers", nargs=-1)
def main(count: int, seed: int, numbers: tuple[str, ...]) -> None:
    """Print what becomes of faults."""
    total: Counter[str] = Counter()
    for number in map(int, numbers or EXAMPLES):
        tally = run(number, count, seed)
        total += tally
        click.echo(f"linear {number}: {dict(tally)}")
    click.echo(f"all {total.total():,}: {dict(total)}")


if __name__ == "__main__":
    main()
