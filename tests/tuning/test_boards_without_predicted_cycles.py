"""A search for a chip whose cycles no plan predicts: memory counts, and no time is promised."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json
from extension_parts import needs
from linear_factory import random_linear_model

from protonn_edge.model.file import save_model

SEARCH = ["--board", "pico", "--classifier", "linear", "--trials", "1", "--folds", "2"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    np.savez(tmp_path / "data.npz", X=(rng.normal(size=(120, 4)) + y[:, None]).astype("f4"), y=y)
    return tmp_path / "data.npz"


@needs("pico")
def test_a_model_is_chosen_without_a_time(data: Path, tmp_path: Path) -> None:
    found = run_json("tune", data, "-o", tmp_path / "model.npz", *SEARCH)
    assert found["planned"]["kernel"] == "words"
    assert found["planned"]["cycles"] is None
    assert found["cross_validated"]["ms"] is None
    assert 0 < found["planned"]["flash_bytes"] < 10_000


@pytest.mark.parametrize("board", [pytest.param("pico", marks=needs("pico")), "attiny85"])
@pytest.mark.parametrize(
    "asked", [["--max-latency-ms", "3"], ["--max-energy-mj", "1"], ["--choose", "fastest"]]
)
def test_limits_of_time_are_refused(
    data: Path, tmp_path: Path, asked: list[str], board: str
) -> None:
    done = run("tune", data, "-o", tmp_path / "model.npz", *SEARCH, "--board", board, *asked)
    assert f"{asked[0]} is {asked[1]}" in refusal(done)
    assert f"does not predict cycles on {board}" in refusal(done)


@needs("pico")
def test_a_plan_that_the_board_does_not_have_is_refused(tmp_path: Path) -> None:
    save_model(random_linear_model(), tmp_path / "model.npz")
    options = ["--board", "pico", "--plan", "unrolled", "-o", tmp_path / "project"]
    assert "--plan is unrolled" in refusal(run("build", tmp_path / "model.npz", *options))
    assert not (tmp_path / "project").exists()
