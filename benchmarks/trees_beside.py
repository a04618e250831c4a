"""The same trees as C of this project, of m2cgen and of emlearn, on the same emulated Uno.

    python benchmarks/trees_beside.py [--only ROW] [--json]

A row is a data set and a library whose trees each tool turns into C: the models of
benchmarks/imported.py, and *small* ones with fewer rounds. Each tool's C is linked with the same
program, by the same compiler and flags (-Os, those of the Arduino IDE), and classifies all test
points there. `flash` and `SRAM` are those of this whole program, with the features of one point in
the type that the tool takes: bytes, floats for m2cgen, and int16 for emlearn, which takes no
boosted trees. Features that are not whole numbers are turned into bytes on the Uno in the lines
*from floats*, whose cycles include that; forests get them as whole numbers of 12 bits.
Needs: pip install xgboost lightgbm m2cgen emlearn.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from imported import SETS, TRAINERS, Sizes, dataset_of
from numpy.typing import NDArray
from printing import Columns, Record, print_table
from sklearn.ensemble import RandomForestClassifier

from protonn_edge.avr.program import read_program
from protonn_edge.codegen import render_c
from protonn_edge.codegen.planner import make_plan
from protonn_edge.conversion.converting import from_sklearn
from protonn_edge.datasets import Dataset
from protonn_edge.emulator import EmulatedUno
from protonn_edge.quantization import measure_activity, quantize

_FLASH, _SRAM = 32_256, 2_048
_FLAGS = ("-mmcu=atmega328p", "-std=gnu99", "-Os", "-flto", "-ffunction-sections", "-w")
_LARGE = "-Wl,--gc-sections,--defsym=__TEXT_REGION_LENGTH__=4M"  # to know the size of any program
_DEADLINE_S = 3_600  # m2cgen's forests take minutes to compile
_FOR_M2CGEN = {"base_score": 0.5, "num_parallel_tree": 1}  # which it takes from the parameters
_FOREST_TREES = 15
_SMALL = {"letter26": 1, "har_hapt": 6, "usps10": 3}  # rounds

_MAIN = """
#include <avr/io.h>
#include "classify.h"

static feature_t features[FEATURES];
static volatile uint8_t answer;

int main(void)
{
    UBRR0 = 0; /* 2 Mbaud */
    UCSR0A = _BV(U2X0);
    UCSR0B = _BV(RXEN0) | _BV(TXEN0);
    for (;;) {
        for (uint16_t i = 0; i < sizeof features; ++i) {
            loop_until_bit_is_set(UCSR0A, RXC0);
            ((uint8_t *)features)[i] = UDR0;
        }
        GPIOR0 = 1;
        answer = classify(features);
        GPIOR0 = 0;
        loop_until_bit_is_set(UCSR0A, UDRE0);
        UDR0 = answer;
    }
}
"""
_HEADER = """
#include <stdint.h>
#define FEATURES {features}
typedef {type} feature_t;
uint8_t classify(const feature_t *features);
"""
_FIRST_LARGEST = """
    uint8_t best = 0;
    for (uint8_t each = 1; each < {classes}; ++each) {{
        if (scores[each] > scores[best]) {{
            best = each;
        }}
    }}
    return best;
"""


@dataclass(frozen=True)
class Tool:
    """The C files of a tool, one of which has `classify`, and the points that this takes."""

    name: str
    type: str  # of a feature, in C
    points: NDArray[Any]  # (n, D), of the same type
    files: dict[str, str]


def _ours(trees: Any, data: Dataset, floats: bool) -> Iterator[Tool]:
    found = from_sklearn(trees, data.X_train, classes=data.classes)
    chain = quantize(found.model)
    Q = chain.quantize(data.X_test)
    plan = make_plan(chain, activity=measure_activity(chain, Q))
    files = render_c(chain, plan)
    start = '#include "pnn_model.h"\n#include "classify.h"\n'
    start += "uint8_t classify(const feature_t *features) {"
    call = "return pnn_predict(features); }"
    yield Tool("protonn-edge", "uint8_t", Q, files | {"classify.c": f"{start} {call}"})
    if floats:
        push = "pnn_push(pnn_quantize_float(i, features[i]));"
        loop = (
            f"pnn_begin(); for (uint16_t i = 0; i < FEATURES; ++i) {push} return pnn_finish(); }}"
        )
        own = files | {"classify.c": f"{start} {loop}"}
        yield Tool("from floats", "float", np.asarray(data.X_test, np.float32), own)


def _m2cgen(trees: Any, data: Dataset) -> Tool:
    code = import_module("m2cgen").export_to_c(trees)
    largest = _FIRST_LARGEST.format(classes=len(data.classes))
    code += f"""
#include "classify.h"
uint8_t classify(const feature_t *features) {{
    double scores[{len(data.classes)}];
    score((double *)features, scores);
    {largest}
}}
"""
    return Tool("m2cgen", "double", np.asarray(data.X_test, np.float32), {"classify.c": code})


def _emlearn(trees: Any, data: Dataset) -> Tool:
    emlearn = import_module("emlearn")
    code = emlearn.convert(trees, method="inline", dtype="int16_t").save(name="trees", format="c")
    code += """
#include "classify.h"
uint8_t classify(const feature_t *features) {
    return (uint8_t)trees_predict(features, FEATURES);
}
"""
    return Tool("emlearn", "int16_t", np.asarray(data.X_test, np.int16), {"classify.c": code})


def _measured(tool: Tool, labels: NDArray[Any], folder: Path) -> Record:
    """Return what a tool's program takes of the Uno, and its share of right answers there."""
    header = _HEADER.format(features=tool.points.shape[1], type=tool.type)
    for name, text in {**tool.files, "main.c": _MAIN, "classify.h": header}.items():
        (folder / name).write_text(text)
    elf = folder / "trees.elf"
    sources = ["main.c", *(name for name in tool.files if name.endswith(".c"))]
    command = ["avr-gcc", *_FLAGS, _LARGE, "-o", str(elf), *sources, "-lm"]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=_DEADLINE_S, cwd=folder
    )
    if done.returncode and tool.name == "m2cgen":
        return {"error": done.stderr}
    done.check_returncode()
    sections = read_program(elf).sections
    record = {"flash_bytes": sections.flash_bytes, "sram_bytes": sections.sram_bytes}
    if sections.flash_bytes > _FLASH or sections.sram_bytes > _SRAM:
        return record
    with EmulatedUno(elf) as uno:
        answers = np.frombuffer(_answers(uno.port, tool.points), np.uint8)
        stats = uno.stats()
    assert not stats.faults, stats.faults
    return record | {
        "stack_bytes": stats.stack_bytes,
        "cycles": stats.marked_cycles / stats.marked_spans,
        "accuracy": float(np.mean(answers == labels)),
        "n": len(answers),
    }


def _answers(port: int, points: NDArray[Any]) -> bytes:
    received = b""
    with socket.create_connection(("127.0.0.1", port)) as line:
        line.settimeout(_DEADLINE_S)
        for point in points:
            line.sendall(point.tobytes())
            received += line.recv(1)
    return received


def _forest(sizes: Sizes) -> Any:
    trees = min(sizes.rounds, _FOREST_TREES)
    return RandomForestClassifier(trees, max_leaf_nodes=100, random_state=0, n_jobs=1)


_TRAINERS: dict[str, Callable[[Sizes], Any]] = {
    "xgboost": lambda sizes: TRAINERS["xgboost"](sizes).set_params(**_FOR_M2CGEN),
    "lightgbm": TRAINERS["lightgbm"],
    "forest": _forest,
}
_ROWS = [
    *(f"{name}-{library}" for name in SETS for library in _TRAINERS),
    *(f"{name}-{library}-small" for name in _SMALL for library in ("xgboost", "lightgbm")),
]


def _why_not(record: Record) -> str:
    return "does not build" if "error" in record else "does not fit"


COLUMNS: Columns = [
    ("data, library", lambda r: r["row"]),
    ("C of", lambda r: r["tool"]),
    ("library %", lambda r: f"{100 * r['library_accuracy']:.2f}"),
    ("Uno %", lambda r: f"{100 * r['accuracy']:.2f}" if "n" in r else _why_not(r)),
    ("points", lambda r: f"{r['n']:,}" if "n" in r else ""),
    ("flash B", lambda r: f"{r['flash_bytes']:,}" if "flash_bytes" in r else ""),
    ("SRAM B", lambda r: f"{r['sram_bytes']:,} + {r['stack_bytes']}" if "n" in r else ""),
    ("cycles mean", lambda r: f"{r['cycles']:,.0f}" if "n" in r else ""),
]


def beside(row: str) -> Iterator[Record]:
    """Train the trees of a row, and run the C of each tool."""
    name, library, *small = row.split("-")
    data, sizes = dataset_of(name), SETS[name]
    data = replace(data, X_train=np.asarray(data.X_train), X_test=np.asarray(data.X_test))
    floats = bool((np.rint(data.X_train) != data.X_train).any())
    if library == "forest":
        data, floats = _of_12_bits(data), False
    if small:
        sizes = replace(sizes, rounds=_SMALL[name])
    trees = _TRAINERS[library](sizes).fit(data.X_train, data.y_train)
    tools = [*_ours(trees, data, floats), _m2cgen(trees, data)]
    tools += [_emlearn(trees, data)] if library == "forest" else []
    known = float(np.mean(trees.predict(data.X_test) == data.y_test))
    for tool in tools:
        with TemporaryDirectory() as folder:
            measured = _measured(tool, data.y_test, Path(folder))
        yield {"row": row, "tool": tool.name, "library_accuracy": known, **measured}


def _of_12_bits(data: Dataset) -> Dataset:
    """Return features as whole numbers, as an analog-to-digital converter gives them."""
    low, high = data.X_train.min(axis=0), data.X_train.max(axis=0)
    unit = np.where(high > low, (high - low) / 4095, 1)
    parts = (np.clip(np.rint((X - low) / unit), 0, 4095) for X in (data.X_train, data.X_test))
    train, test = (part.astype(np.float32) for part in parts)
    return replace(data, X_train=train, X_test=test)


@click.command()
@click.option("--only", type=click.Choice(_ROWS), help="One row.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def main(only: str | None, as_json: bool) -> None:
    """Print what the C of several tools takes for the same trees."""
    rows = [only] if only else _ROWS
    try:
        print_table((each for row in rows for each in beside(row)), COLUMNS, as_json)
    except ModuleNotFoundError as error:
        raise click.UsageError(f"{error.name} is missing; pip install {error.name}") from error


if __name__ == "__main__":
    main()
