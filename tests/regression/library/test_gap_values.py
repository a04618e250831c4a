"""The values that an export lists for gaps are what its functions take, in the same unit."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from command_line import succeed

from protonn_edge.data.preparation import Preparation
from protonn_edge.model.file import load_model
from protonn_edge.model.quantization import quantize


def test_a_value_for_gaps_is_listed_as_the_integer_to_pass(tmp_path: Path) -> None:
    generator, table = np.random.default_rng(0), tmp_path / "data.csv"
    rows = [
        f"{'' if row % 9 == 0 else f'{43 + generator.normal():.1f}'},{generator.normal():.2f},"
        f"{row % 2}"
        for row in range(120)
    ]
    table.write_text("\n".join(["degrees,speed,label", *rows]) + "\n")
    path = tmp_path / "model.npz"
    succeed("train", table, "--missing", "median", "--holdout", 0, "--epochs", 2, "-o", path)
    succeed("export", path, "--c", tmp_path / "library")
    readme = (tmp_path / "library" / "README.md").read_text()
    listed = re.findall(r"(?m)^\| \d \w+ \| (-?\d+) \| ([-.\d]+) \|$", readme)
    model = load_model(path)
    fills = Preparation.of_record(model.record, model.n_features).values
    assert [float(value) for _, value in listed] == [float(f"{fill:.7g}") for fill in fills]
    integers = quantize(model)
    passed = np.array([[int(integer) for integer, _ in listed]])
    assert listed[0][0] == f"{10 * fills[0]:.0f}"
    assert np.array_equal(
        integers.raw_inputs.quantize(passed), integers.quantize(np.array([fills]))
    )
