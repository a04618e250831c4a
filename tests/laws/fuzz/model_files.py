"""Model files: one is refused in one sentence, or holds a model that works all the way to C."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import numpy as np
from chains import protonn_model
from generated_programs import assert_equal_to_reference
from laws.fuzz.edited_models import edited
from laws.fuzz.mutation import (
    mutated_arrays,
    mutated_bytes,
    mutated_json,
    npz_bytes,
    pick,
)
from laws.fuzz.sentences import REFUSALS, check_command, check_refusal
from stored_models import RECORD, stored_models

from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.renderer import render_c
from protonn_edge.data.naming import NO_CLASS
from protonn_edge.model.file import load_model, model_bytes, save_model
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.statistics import InputStatistics, Normalizer

BRIEF_CASES = 20
DEADLINE_S = 120.0

_OLD_FILES = sorted((Path(__file__).parents[2] / "model").glob("format_*.npz"))
_EDITED = 0.3  # of the files, in their JSON
_RENDERED, _COMPILED, _COMMANDS = 0.2, 0.03, 0.05  # of the models that are accepted
_LARGE = 3e38  # a float32 holds it


def run_case(seed: int, folder: Path) -> None:
    """Load a changed model file; save, quantize, plan, render and export what was accepted."""
    rng = np.random.default_rng(seed)
    path = folder / "model.npz"
    path.write_bytes(_changed_file(rng))
    try:
        model = load_model(path)
    except REFUSALS as error:
        check_refusal(error)
        return
    _check_saved(model, folder)
    _check_scores(rng, model)
    _check_integers(rng, model)
    if rng.random() < _COMMANDS:
        check_command("inspect", path, "--json")
    if rng.random() < _COMMANDS:
        made = check_command("export", path, "--c", folder / "library")
        assert made == (folder / "library").exists(), "a refused export left a folder"


def changed_model(rng: np.random.Generator, folder: Path) -> Model:
    """Return what a changed model file holds; `InputError` if the change is refused."""
    path = folder / "changed.npz"
    path.write_bytes(_changed_file(rng))
    return load_model(path)


def _changed_file(rng: np.random.Generator) -> bytes:
    if rng.random() < 0.1:
        return mutated_bytes(rng, _whole_file(rng))
    with np.load(io.BytesIO(_whole_file(rng)), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if rng.random() < 0.05:
        text = json.dumps(mutated_json(rng, RECORD))
        arrays["record"] = np.frombuffer(text.encode(), np.uint8)
    if rng.random() < _EDITED:
        return npz_bytes(rng, edited(rng, arrays))
    return npz_bytes(rng, mutated_arrays(rng, arrays))


def _whole_file(rng: np.random.Generator) -> bytes:
    if rng.random() < 0.1:
        return pick(rng, _OLD_FILES).read_bytes()
    return model_bytes(
        _large_model(rng) if rng.random() < 0.01 else pick(rng, [*stored_models().values()])
    )


def _large_model(rng: np.random.Generator) -> Model:
    """Return a model of up to 2 MB whose sizes differ much."""
    d, m, L = int(rng.choice([1, 10, 60])), int(rng.choice([3, 300, 20_000])), 2
    D = int(rng.choice([2, 100, 2_000]))
    m, D = min(m, 250_000 // (d + L)), min(D, 250_000 // d)
    lower = np.zeros(D)
    return protonn_model(
        projection=rng.normal(size=(d, D)) / np.sqrt(D),
        prototypes=rng.normal(size=(d, m)),
        labels=rng.normal(size=(L, m)),
        gamma=float(rng.choice([0.3, 1.0])) / np.sqrt(d),
        normalizer=Normalizer("standard", np.full(D, 0.5), np.full(D, 3.4)),
        inputs=InputStatistics(lower, lower + 1, lower + 0.5, np.full(D, 0.3), lower),
        classes=("left", "right"),
    )


def _check_saved(model: Model, folder: Path) -> None:
    save_model(model, folder / "again.npz")
    again = load_model(folder / "again.npz")
    assert model_bytes(again) == model_bytes(model), "an accepted model changes when it is saved"


def _check_scores(rng: np.random.Generator, model: Model) -> None:
    X = _points(rng, model)
    scores = model.scores(X)
    assert np.isfinite(scores).all(), "scores of an accepted model are not finite"
    if model.policy.predicts == "class":
        classes = model.predict(X)
        known = (classes >= 0) & (classes < model.n_classes)
        assert (known | (classes == NO_CLASS)).all(), (
            "an accepted model answers no class of its own"
        )


def _points(rng: np.random.Generator, model: Model) -> np.ndarray:
    """Return points (n, features), float32, of the range that the model was trained on."""
    lower, upper = np.clip([model.inputs.lower, model.inputs.upper], -_LARGE, _LARGE)
    size = (8, model.n_features)
    if model.features is None:
        return (lower + rng.random(size) * (upper - lower)).astype(np.float32)
    return (lower.min() + rng.random(size) * (upper.max() - lower.min())).astype(np.float32)


def _check_integers(rng: np.random.Generator, model: Model) -> None:
    try:
        integers = quantize(model)
        plan = make_plan(integers)
    except REFUSALS as error:
        check_refusal(error)
        return
    Q = integers.quantize(_points(rng, model))
    _check_answers(integers, Q)
    if rng.random() < _COMPILED and shutil.which("cc"):
        with host_program(integers, plan) as program:
            assert_equal_to_reference(program, integers, Q)
    assert plan.cycles > 0, "a plan takes no time"
    if rng.random() < _RENDERED:
        render_c(integers, plan)


def _check_answers(integers: IntegerChain, Q: np.ndarray) -> None:
    classes, scores = integers.answers(Q)
    low, high = integers.own_stages[-1].output.ends
    inside = (scores >= low) & (scores <= high)
    assert inside.all(), "scores of an integer model leave their proven range"
    known = (classes >= 0) & (classes < integers.n_classes)
    assert (known | (classes == NO_CLASS)).all(), "an integer model answers no class of its own"
