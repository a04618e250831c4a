"""A model of data with decimals answers in the exported library as on the host.

The library takes whole numbers, and took them in the unit of the training data: 5.1 cm became 5.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import run_json, succeed
from decimal_data import in_sketch, trained
from model_factory import random_window_model, window_features_of

from protonn_edge.chips.toolchain.process import build_host_executable
from protonn_edge.data.expected import Expected
from protonn_edge.data.reading import load_points
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.quantization import quantize

# Classifies lines of integers as the exported README says; prints the class's index.
FEEDING = """
#include <stdio.h>
#include "pnn_model.h"
int main(void)
{
    for (;;) {
        pnn_begin();
        for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
            int raw;
            if (scanf("%d", &raw) != 1) {
                return 0;
            }
            pnn_push(pnn_quantize(i, (int16_t)raw));
        }
        printf("%d\\n", pnn_finish());
    }
}
"""


def test_exported_c_answers_as_the_model(decimals: tuple[Path, Path], tmp_path: Path) -> None:
    model = load_model(decimals[0])
    X, y = load_points(decimals[1], Expected(n_features=model.n_features, classes=model.classes))
    succeed("export", decimals[0], "--c", tmp_path / "library")
    (tmp_path / "feeding.c").write_text(FEEDING)
    sources = [tmp_path / "feeding.c", tmp_path / "library" / "pnn_model.c"]
    program = build_host_executable(sources, tmp_path / "library", tmp_path / "feeding")
    raw = in_sketch(X, factors_of(tmp_path / "library" / "pnn_model.h"))
    text = "\n".join(" ".join(map(str, row)) for row in raw.tolist())
    done = subprocess.run(
        [program], input=text, capture_output=True, text=True, check=True, timeout=60
    )
    answers = np.array(done.stdout.split(), int)
    reference = quantize(model)
    usual = reference.predict(reference.quantize(X))
    assert np.sum(answers == y) >= np.sum(usual == y) - 1


def factors_of(header: Path) -> list[float]:
    """Read the factors that a header lists, one line a feature."""
    text = header.read_text()
    table = text[text.index("multiply by") : text.index("pnn_input_t pnn_quantize(")]
    return [float(factor) for factor in re.findall(r"(?m)^ \* +\d+ +\D+? +([\d.e-]+) ", table)]


@pytest.fixture(scope="module")
def cancer(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the file of a model of breast_cancer, and of its test points."""
    return trained("breast_cancer", tmp_path_factory.mktemp("cancer"))


def test_a_model_without_units_gets_them_from_its_ranges(cancer: tuple[Path, Path]) -> None:
    model = load_model(cancer[0])
    old = replace(model, raw_exponents=None)
    assert quantize(old).model_sha256 == quantize(model).model_sha256
    X, y = load_points(cancer[1], Expected(n_features=model.n_features, classes=model.classes))
    reference = quantize(old)
    usual = reference.predict(reference.quantize(X))
    own = reference.predict(reference.raw_inputs.quantize(reference.raw_inputs.integers(X)))
    assert np.sum(own == y) >= np.sum(usual == y) - 1


def test_inspect_names_the_unit_of_each_channel_of_windows_once(tmp_path: Path) -> None:
    model = random_window_model(window_features_of("mean,min", 8, 3))
    save_model(replace(model, raw_exponents=np.array([1, 1, 0])), tmp_path / "m.npz")
    shown = succeed("inspect", tmp_path / "m.npz").stdout
    assert "channel 0, channel 1 " in shown
    assert "channel 2 " in shown
    assert "feature 0" not in shown


def test_inspect_header_readme_and_sketches_name_the_unit(tmp_path: Path) -> None:
    model, _ = trained("iris", tmp_path)
    assert run_json("inspect", model)["raw_scale"] == [10.0] * 4
    assert " as tenths" in succeed("inspect", model).stdout
    library = tmp_path / "library"
    succeed("export", model, "--arduino", library)
    for name in ("src/pnn_model.h", "README.md", "examples/Classify/Classify.ino"):
        text = (library / name).read_text()
        assert "tenths" in text, name
        assert "pnn_quantize_float" in text, name
    assert "tenths" in (library / "examples" / "Stream" / "Stream.ino").read_text()
