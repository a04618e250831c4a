"""Random programs of which the checker says something: it must hold for pairs of inputs.

    PYTHONPATH=tests python -m equality.checker_fuzz [PROGRAMS [FIRST SEED]]

The programs are those of `fuzz`; the machine with numbers, which the checker does not share, says
what is true. A sum of functions of one input each has no mixed differences.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import click
import numpy as np
from extensions.proof.equality.fuzz import Example

from protonn_edge.extensions.proof.checker.chip import CheckedChip, Execution, NotSeparable
from protonn_edge.extensions.proof.checker.sums import One, SumPart, SumTable
from protonn_edge.extensions.proof.checker.ways import Ways
from protonn_edge.extensions.proof.exploration import Explorer
from protonn_edge.extensions.proof.forms import Byte, Unproven
from protonn_edge.extensions.proof.instructions import ACTIONS
from protonn_edge.extensions.proof.machine import Machine

GRID = 5  # values of each input
_SIZES = 3, 2, 1


def checked(example: Example) -> tuple[CheckedChip, SumTable]:
    """Return the state behind a program; `NotSeparable` if there are several, or none."""
    execution = Execution(example.program, frozenset())
    chip = CheckedChip()
    chip.flags = [0] * 8
    for number, value in enumerate(example.registers):
        if isinstance(value, Byte):
            root = example.roots.index(next(iter(value.form.tables)))
            chip.registers[number] = execution.sums.one(root, number)
        else:
            chip.registers[number] = value
    execution.enter(chip, 0)
    ways = Ways(execution)
    end, *more = ways.run([chip])
    if more or end.facts:
        raise NotSeparable("comparisons decide")
    return end, execution.sums


def true_registers(example: Example) -> np.ndarray:
    """Return the registers behind a program for a grid of inputs, (a, b, 32)."""
    grid = [np.unique(np.linspace(0, root.size - 1, GRID, dtype=int)) for root in example.roots]
    found = np.zeros((len(grid[0]), len(grid[1]), 32), np.int64)
    for i, a in enumerate(grid[0]):
        for k, b in enumerate(grid[1]):
            at = dict(zip(example.roots, (int(a), int(b)), strict=True))
            numbers = [
                int(each.array()[at[next(iter(each.form.tables))]])
                if isinstance(each, Byte)
                else each
                for each in example.registers
            ]
            plain = Machine(example.program, ACTIONS)
            (end,) = Explorer(plain).run(example.start(plain, numbers))
            found[i, k] = end.registers
    return found


def wrong(example: Example, tally: Counter[str]) -> list[str]:
    """Return what the checker says that is not true."""
    try:
        end, sums = checked(example)
    except NotSeparable:
        tally["refused"] += 1
        return []
    true, found = true_registers(example), []
    tally["programs"] += 1
    for first in range(32):
        for size in _SIZES:
            bytes_: list[Any] = end.registers[first : first + size]
            total = sums.total(bytes_) if len(bytes_) == size else None
            if total is None or not {*total[1]} <= {0, 1}:
                continue
            kind = "sums" if any(isinstance(each, SumPart) for each in bytes_) else "functions"
            tally[
                kind if any(isinstance(each, One | SumPart) for each in bytes_) else "numbers"
            ] += 1
            value = sum(true[:, :, first + k] << 8 * k for k in range(size))
            changes = [np.diff(value, axis=root) for root in (0, 1) if root not in total[1]]
            changes.append(np.diff(np.diff(value, axis=0), axis=1))
            changes += [] if total[1] else [value - total[0]]
            if any((each % 256**size).any() for each in changes):
                found.append(f"r{first}, {size} bytes: {bytes_}")
    return found


def fuzz(seeds: range) -> Counter[str]:
    """Try programs; raise `AssertionError` at the first one that is wrong."""
    tally: Counter[str] = Counter()
    for seed in seeds:
        try:
            found = wrong(Example(seed), tally)
        except Unproven:
            tally["not executed"] += 1
            continue
        assert not found, (seed, found[:5])
    return tally


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    begin = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    click.echo(dict(fuzz(range(begin, begin + count))))
