"""A classifier alone on an emulated core of 32 bits: the same program around the C of any tool.

The program classifies all points and prints the answers; the cycles of the classification are
counted by the core's table. Bytes are those of code and constants in the linked program without the
points and the program around it: what a linker keeps of the tool's C and of the libraries.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from bare_program import Source
from numpy.typing import NDArray

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from codegen.words.chips import Chip, compiled, linked, parts_of_points

LEVELS = ("-O2", "-O3", "-Os")

_FLAGS = ("-std=gnu11", "-fhosted", "-w")
_HEADER = """
#include <stdint.h>
#define FEATURES {features}
typedef {type} feature_t;
uint8_t classify(const feature_t *features);
"""
_MAIN = """
#include "classify.h"
#include "start.h"
#include "points.h"

int main(void)
{
    for (uint32_t i = 0; i < POINTS; ++i) {
        print_number(classify(points + i * FEATURES));
        print(" ");
    }
    stop(1);
    return 0;
}
"""


@dataclass(frozen=True)
class Measured:
    """The answers of a program, and what they take."""

    answers: NDArray[Any]
    cycles: int  # mean of a classification
    most: int
    n_bytes: int
    level: str


def fastest(source: Source, chip: Chip) -> Measured:
    """Return the figures at the level of optimization with the fewest cycles."""
    return min((measured(source, chip, level) for level in LEVELS), key=lambda each: each.cycles)


def measured(source: Source, chip: Chip, level: str) -> Measured:
    """Compile a tool's C, and classify all of its points."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        features = source.points.shape[1]
        header = _HEADER.format(features=features, type=source.type)
        for file, text in {**source.files, "classify.h": header, "answers.c": _MAIN}.items():
            (folder / file).write_text(text)
        include = [] if source.include is None else [f"-I{source.include}"]
        sources = [folder / file for file in source.files if file.endswith(".c")]
        objects = [
            compiled(chip, each, level, *_FLAGS, f"-I{folder}", *include) for each in sources
        ]
        answers, runs = [], []
        for part in parts_of_points(chip, source.points, objects):
            (folder / "points.h").write_text(_points(source.type, part))
            program = linked(chip, folder, folder / "answers.c", objects, library=True)
            runs.append(program.run("classify"))
            assert re.fullmatch(r"(\d+ )+\s*", runs[-1].printed), runs[-1].printed[:500]
            answers += list(map(int, runs[-1].printed.split()))
        assert len(answers) == sum(run.calls for run in runs) == len(source.points)
        cycles = round(sum(run.total for run in runs) / len(answers))
        most = max(run.most for run in runs)
        return Measured(np.array(answers), cycles, most, program.n_bytes, level)


def _points(type_: str, points: NDArray[Any]) -> str:
    values = points.ravel().tolist()
    shown = [each.hex() if isinstance(each, float) else str(each) for each in values]
    array = f"static const {type_} points[] = {{ {', '.join(shown)} }};"
    return f"#define POINTS {len(points)}u\n{array}\n"
