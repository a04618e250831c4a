"""Each kind from the command line: trained, built, verified, measured, reported, exported."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from avr_tools import needs_avr_gcc, needs_emulated_avr
from command_line import assert_one_sentence, run, run_json, succeed
from kinds.kind import KINDS, kind_of
from refusals import refused_by

from protonn_edge.codegen.planner import make_plan
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.model.file import load_model
from protonn_edge.model.head import kind_title, matrices_of
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection.rule import Rejection

VARIANTS = [(kind, name) for kind in KINDS for name in kind_of(kind).variants]
FIRST = {kind: next(iter(kind_of(kind).variants)) for kind in KINDS}
LAST = {kind: list(kind_of(kind).variants)[-1] for kind in KINDS}
REJECTING = sorted(
    {KINDS[0], *(kind for kind in KINDS if kind_of(kind).rejecting or kind_of(kind).images_only)}
)

every_kind = pytest.mark.parametrize("kind", KINDS)


class Trained:
    """Digits, and models of all kinds and variants, each trained when it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        digits = load_digits_dataset()
        for classes in (2, 10):
            merged = 10 // classes
            np.savez(
                self._digits(classes),
                X_train=digits.X_train[::3],
                y_train=digits.y_train[::3] // merged,
                X_test=digits.X_test[:40],
                y_test=digits.y_test[:40] // merged,
            )

    def data(self, variant: str) -> Path:
        """Return the digits, or whether they are 5 or more, for a variant."""
        return self._digits(2 if "two classes" in variant else 10)

    def model(self, kind: str, variant: str) -> Path:
        """Return the file of a model."""
        path = self.folder / f"{variant}.npz"
        if not path.exists():
            options = kind_of(kind).variants[variant]
            succeed("train", self.data(variant), "-o", path, "--classifier", kind, *options)
        return path

    def _digits(self, classes: int) -> Path:
        return self.folder / f"digits_{classes}.npz"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return Trained(tmp_path_factory.mktemp("kinds"))


@every_kind
def test_training_says_what_became_of_it(kind: str, trained: Trained, tmp_path: Path) -> None:
    path, flags = tmp_path / "model.npz", kind_of(kind).flags
    options = [text for flag in flags.items() for text in flag]
    record = run_json("train", trained.data(""), "-o", path, "--classifier", kind, *options)
    assert record["accuracy"] > 0.6
    model = load_model(path)
    assert model.head.kind == (kind_of(kind).model or kind)
    settings = model.record["settings"].values()
    assert set(flags.values()) <= {_as_option(value) for value in settings}


def _as_option(value: Any) -> str:
    return "x".join(map(str, value)) if isinstance(value, list) else str(value)


@pytest.mark.parametrize(("kind", "variant"), VARIANTS)
def test_it_is_inspected(kind: str, variant: str, trained: Trained) -> None:
    model = trained.model(kind, variant)
    record = run_json("inspect", model, "--data", trained.data(variant))
    assert record["classifier"] == (kind_of(kind).model or kind)
    title = kind_title(load_model(model).head.kind)
    assert re.search(rf"classifier +{title}\b", succeed("inspect", model).output)
    assert [stage["stage"] for stage in record["stages"]] == list(kind_of(kind).steps)
    loaded = load_model(model)
    assert all(record[size.name] == size.number for size in loaded.sizes)
    assert set(record["nonzero"]) == set(matrices_of(loaded.head))
    if "--size-budget" in kind_of(kind).variants[variant]:
        assert record["model_bytes"] <= 6_000
    if kind_of(kind).reads_weights:
        low, high = record["accumulator_range"]
        assert low < 0 < high


@needs_emulated_avr
@pytest.mark.parametrize("kind", [kind for kind in KINDS if LAST[kind] != FIRST[kind]])
def test_every_execution_agrees(kind: str, trained: Trained) -> None:
    variant = LAST[kind]
    record = run_json("verify", trained.model(kind, variant), trained.data(variant))
    assert [each["mismatches"] for each in record["executions"]] == [0, 0]


def shown_by(page: str) -> str:
    """Return what a page shows, without its program and its styles."""
    return re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)


@needs_emulated_avr
@every_kind
def test_it_is_built_measured_and_reported(kind: str, trained: Trained, tmp_path: Path) -> None:
    model, data = trained.model(kind, FIRST[kind]), trained.data(FIRST[kind])
    plan = run_json("build", model, "-o", tmp_path, "--data", data)["plan"]
    assert (kind_of(kind).stage or kind) in [stage["name"] for stage in plan["stages"]]
    results = tmp_path / "results.csv"
    measured = run_json("hil", data, "--emulate", "--project", tmp_path, "-o", results)
    assert (measured["mismatches"], measured["lost"], measured["n"]) == (0, 0, 40)
    possible = measured["cycles_possible"]
    assert 0 < possible["least"] <= measured["cycles"]["min"]
    assert measured["cycles"]["max"] <= possible["most"]
    page = tmp_path / "report.html"
    succeed("report", results, "--project", tmp_path, "--data", data, "-o", page)
    assert "prototype" not in shown_by(page.read_text(encoding="utf-8")).lower()


@needs_avr_gcc
@pytest.mark.parametrize(
    ("kind", "vectors"), [(KINDS[0], "data"), *((kind, "model") for kind in KINDS)]
)
def test_the_c_library_passes_its_self_test(
    kind: str, vectors: str, trained: Trained, tmp_path: Path
) -> None:
    variant = LAST[kind]
    given = ["--data", trained.data(variant)] if vectors == "data" else []
    succeed("export", trained.model(kind, variant), "--c", tmp_path / "library", *given)
    done = subprocess.run(
        ["make", "test"], cwd=tmp_path / "library", capture_output=True, text=True, check=True
    )
    assert "PASS: 20 test vectors" in done.stdout


@needs_emulated_avr
@pytest.mark.parametrize("kind", REJECTING)
def test_it_rejects_what_comes_as_features_on_the_device_too(
    kind: str, trained: Trained, tmp_path: Path
) -> None:
    path, data, own = tmp_path / "model.npz", trained.data(""), kind_of(kind)
    by = ("--rejection", "10%", "--rejection-by", "score", "--rejection-by", "margin")
    averages = ("--image-shape", "8x8", "--features", "deskew,pool:4x4")
    pooling, inputs = ((), 8) if own.images_only else (averages, 16)
    options = own.rejecting or own.variants[FIRST[kind]]
    succeed("train", data, "-o", path, "--classifier", kind, *options, *by, *pooling)
    model = load_model(path)
    assert (model.n_features, model.n_inputs) == (64, inputs)
    assert model.policy.find(Rejection) is not None
    record = run_json("verify", path, data)
    assert [each["mismatches"] for each in record["executions"]] == [0, 0]


@needs_avr_gcc
@every_kind
def test_the_best_that_fits_is_found(kind: str, trained: Trained, tmp_path: Path) -> None:
    path, options = tmp_path / "model.npz", ("--folds", 2, "--jobs", 1, *kind_of(kind).tuning)
    done = succeed("tune", trained.data(""), "-o", path, "--classifier", kind, *options)
    found = load_model(path)
    assert found.head.kind == (kind_of(kind).model or kind)
    assert f"protonn-edge build {path}" in done.output
    latency = float(options[options.index("--max-latency-ms") + 1])
    plan = make_plan(quantize(found))
    assert plan.cycles <= 16_000 * latency


@every_kind
def test_its_options_are_not_protonns(kind: str, trained: Trained, tmp_path: Path) -> None:
    flag, value = next(iter(kind_of(kind).flags.items()))
    own = ("--classifier", kind, *kind_of(kind).variants[FIRST[kind]], "--prototypes", 20)
    for given, options, by in ((flag, (flag, value), "protonn"), ("--prototypes", own, kind)):
        done = run("train", trained.data(""), "-o", tmp_path / "model.npz", *options)
        assert_one_sentence(done, f"{given} is given, but the classifier '{by}' has no such")


@every_kind
def test_a_plan_may_be_named(kind: str, trained: Trained) -> None:
    integers = quantize(load_model(trained.model(kind, FIRST[kind])))
    mine, others = make_plan(integers).kernel, "columns" if kind == "forest" else "walk"
    assert make_plan(integers, kernel=mine).kernel == mine
    with refused_by("codegen.planner"):
        make_plan(integers, kernel=others)
