"""The sketch Classify, fed in the unit that it asks for, is as accurate as the host."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from arduino_ide import assert_within_budget, build_sketch, needs_arduino_core, run_on_uno
from command_line import succeed
from decimal_data import DATA_SETS, in_sketch, trained

from protonn_edge.data.expected import Expected
from protonn_edge.data.reading import load_points
from protonn_edge.model.file import load_model
from protonn_edge.model.model import units_of
from protonn_edge.model.quantization import quantize

# What stands in for a sensor: row by row of a table in flash.
SENSOR = """
static const int16_t table[][{columns}] PROGMEM = {{
{rows}
}};
static uint16_t row;
"""


@needs_arduino_core
@pytest.mark.parametrize("name", DATA_SETS)
def test_classify_is_as_accurate_as_the_model(name: str, arduino_core: Path, tmp_path: Path):
    file, data = trained(name, tmp_path)
    model = load_model(file)
    X, y = load_points(data, Expected(n_features=model.n_features, classes=model.classes))
    library = tmp_path / "library"
    succeed("export", file, "--arduino", library, "--library", "name=measured")
    sketch = library / "examples" / "Classify" / "Classify.ino"
    reference = quantize(model)
    raw = in_sketch(X, [float(f"1e{k}") for k in units_of(model)])
    sketch.write_text(fed_from(sketch.read_text(), raw))
    elf = build_sketch(library, "Classify", arduino_core, tmp_path / "out")
    ran = run_on_uno(elf, lines=len(X))
    assert_within_budget(ran)
    answers = [model.classes.index(line) for line in ran.printed.splitlines()[: len(X)]]
    assert np.array_equal(answers, reference.predict(reference.raw_inputs.quantize(raw)))
    usual = reference.predict(reference.quantize(X))
    assert np.mean(answers == y) >= np.mean(usual == y) - 0.005


def fed_from(sketch: str, raw: np.ndarray) -> str:
    """Return the sketch with `readFeature` taking rows of a table in turn, and no pause."""
    start = sketch.index("static int16_t readFeature")
    end = sketch.index("void setup")
    reading = (
        "static int16_t readFeature(uint16_t feature) {\n"
        "  return (int16_t)pgm_read_word(&table[row][feature]);\n}\n\n"
    )
    rows = "\n".join(f"  {{{', '.join(map(str, row))}}}," for row in raw.tolist())
    head = SENSOR.format(columns=raw.shape[1], rows=rows)
    loop = sketch[end:].replace("delay(500);", f"row = (row + 1) % {len(raw)};")
    return f"{head}{sketch[:start]}{reading}{loop}"
