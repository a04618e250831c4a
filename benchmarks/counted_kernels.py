"""Counted kernels: what they add to `--features auto` with few windows, and that they are exact.

`few_windows` trains ProtoNN on 60 and 100 windows of 14 sets, and judges the integers on at most
500 others. `kernel_exactness` runs windows of which many are at their extremes with the formula,
NumPy, C on the host, and the emulated Uno.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from columns import Record, figure, named
from default_sets import both_parts
from feature_rows import generated, vibration
from model_factory import drawn_kernels_of, random_window_model
from numpy.typing import NDArray
from runner import Benchmark, Case
from sklearn.model_selection import train_test_split

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.verification.agreement import verify_device, verify_host, watched_board
from protonn_edge.features.kernels.integers import IntegerKernels
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.model.formulas import arrays_of
from protonn_edge.model.quantization import quantize
from protonn_edge.model.shapes import Shape

Windows = tuple[NDArray[Any], NDArray[Any], Shape]  # (n, samples * channels), classes, shape
Random = np.random.Generator
_NUMBERS = (60, 100)
_MOST_TESTED = 500
_MADE = 600

# --- sets -----------------------------------------------------------------------------------------


def _of_file(name: str, shape: Shape) -> Windows:
    return *both_parts(name), shape


def _of_dataset(make: Callable[[Any], Any]) -> Windows:
    dataset = make(None)
    shape = (128, dataset.X_train.shape[1] // 128)
    return dataset.X_train, dataset.y_train, shape


def _made(form: Callable[[Random, int], Any], classes: int, samples: int) -> Windows:
    """Return windows of a form, which a class and random numbers give."""
    rng = np.random.default_rng(11)
    y = rng.integers(classes, size=_MADE)
    return np.array([form(rng, int(each)) for each in y]), y, (samples, 1)


def _control_chart(rng: Random, c: int) -> Any:
    """Return a normal, cyclic, rising, falling, or upwards or downwards shifted chart (Alcock)."""
    t, k = np.arange(60), rng.uniform(0.2, 0.5) * np.arange(60)
    cycle = rng.uniform(10, 15) * np.sin(2 * np.pi * t / rng.uniform(10, 15))
    shift = rng.uniform(7.5, 20) * (t >= rng.integers(20, 40))
    return 30 + 2 * rng.uniform(-3, 3, 60) + (0 * t, cycle, k, -k, shift, -shift)[c]


def _two_patterns(rng: Random, c: int) -> Any:
    """Return two steps in noise, each up or down (Geurts)."""
    x, at = rng.normal(size=128), rng.integers(0, 32)
    for up in (c & 1, c >> 1):
        length = rng.integers(16, 32)
        middle = at + length // 2
        x[at:middle], x[middle : at + length] = (-5, 5) if up else (5, -5)
        at += length + rng.integers(1, 32)
    return x


def _bells(rng: Random, c: int) -> Any:
    """Return a cylinder, a bell or a funnel (Saito)."""
    t, a = np.arange(128), rng.integers(16, 33)
    b = a + rng.integers(32, 97)
    inside, rise = (t >= a) & (t <= b), (t - a) / (b - a)
    return (6 + rng.normal()) * inside * (1, rise, 1 - rise)[c] + rng.normal(size=128)


def _up_middle_down(rng: Random, c: int) -> Any:
    """Return a bump with a small peak before it, none, or a small peak behind it, at any place."""
    t, at = np.arange(150), rng.integers(40, 90)
    bump = 2 * np.exp(-(((t - at) / 15) ** 2))
    small = 0.8 * np.exp(-(((t - at + (-30, 0, 30)[c]) / 4) ** 2))
    return bump + small * (c != 1) + rng.normal(0, 0.15, 150)


def _one_shapelet(rng: Random, c: int) -> Any:
    """Return noise with a short triangle or a short square somewhere (Hills)."""
    x, at = rng.normal(0, 0.3, 200), rng.integers(0, 170)
    x[at : at + 30] += 1.5 * (1 - np.abs(np.linspace(-1, 1, 30)) if c else np.repeat([0, 1, 0], 10))
    return x


def _chirps(rng: Random, c: int) -> Any:
    """Return a tone whose frequency rises, falls or stays."""
    turn = np.cumsum(rng.uniform(0.05, 0.07) + (0.04, -0.04, 0)[c] * np.linspace(-1, 1, 128))
    return np.sin(2 * np.pi * (turn + rng.uniform())) + rng.normal(0, 0.4, 128)


def _resonances(rng: Random, c: int) -> Any:
    """Return noise through one of three resonances (autoregressive processes)."""
    x, e = np.zeros(160), rng.normal(size=160)
    for t in range(2, 160):
        x[t] = (0.3, 0.6, 0.9)[c] * x[t - 1] - 0.6 * x[t - 2] + e[t]
    return x[-128:]


SETS = (
    *(
        Case(name, partial(_of_dataset, partial(generated, name)))
        for name in ("shapes", "modulated", "noises")
    ),
    Case("vibration", partial(_of_dataset, vibration)),
    Case("control charts", partial(_made, _control_chart, 6, 60)),
    Case("two patterns", partial(_made, _two_patterns, 4, 128)),
    Case("cylinder, bell, funnel", partial(_made, _bells, 3, 128)),
    Case("up, middle, down", partial(_made, _up_middle_down, 3, 150)),
    Case("one shapelet", partial(_made, _one_shapelet, 2, 200)),
    Case("chirps", partial(_made, _chirps, 3, 128)),
    Case("resonances", partial(_made, _resonances, 3, 128)),
    *(
        Case(file.removesuffix(".npz"), partial(_of_file, file, shape), file)
        for file, shape in (
            ("gunpoint.npz", (150, 1)),
            ("ecg5000.npz", (140, 1)),
            ("fsdd_mfcc.npz", (20, 13)),
        )
    ),
)

# --- what `auto` finds ----------------------------------------------------------------------------


def few_windows(case: Case, seeds: Sequence[int]) -> Iterator[Record]:
    """Yield the accuracy with what `auto` finds, with the best list beside it, and with kernels."""
    warnings.simplefilter("ignore")
    X, y, shape = case.given()
    for n in _NUMBERS:
        for seed in seeds:
            parts = train_test_split(X, y, train_size=n, random_state=seed, stratify=y)
            yield {"data": case.name, "windows": n, "seed": seed, **_compared(parts, shape, seed)}


def _compared(parts: Sequence[NDArray[Any]], shape: Shape, seed: int) -> Record:
    X, X_test, y, y_test = parts

    def trained(features: str) -> Any:
        settings: Record = {"features": features, "window_shape": shape, "random_state": seed}
        return CLASSIFIERS["protonn"](**settings).fit_accepted(X, y)

    def accuracy(learner: Any) -> float:
        chain = quantize(learner.model_)
        answers = chain.predict(chain.quantize(X_test[:_MOST_TESTED]))
        return 100 * float(np.mean(learner.classes_[answers] == y_test[:_MOST_TESTED]))

    learner = trained("auto")
    found, errors = learner.features_.text, learner.features_.errors
    best = min((each for each in errors if not each.startswith("kernels")), key=errors.__getitem__)
    auto = accuracy(learner)
    of_list = auto if best == found else accuracy(trained(best))
    return {
        "found": found,
        "list": of_list,
        "auto": auto,
        "kernels": auto if found == "kernels:96" else accuracy(trained("kernels:96")),
        "gain": auto - of_list,
    }


# --- exactness ------------------------------------------------------------------------------------

_RUN = 1_000  # windows of a model
_SHAPES = (
    (8, 1),
    (9, 3),
    (16, 2),
    (20, 6),
    (32, 2),
    (40, 3),
    (64, 1),
    (100, 3),
    (128, 3),
    (256, 1),
)
MODELS = tuple(
    Case(f"{samples}x{channels}, {3 * kernels} features", (samples, channels, kernels))
    for samples, channels in _SHAPES
    for kernels in (4, 32)
)


def _patterns(rng: Random, n: int, shape: Shape) -> NDArray[np.uint8]:
    """Return windows of bytes (n, samples * channels): noise, and runs of 0 and 255 of any length.

    Where a run ends, the response of a kernel is at the end of its range; in a constant window, at
    every position it is the same, so that counts are 0 or all positions.
    """
    noise = rng.integers(0, 256, (n, *shape))
    period = rng.integers(1, 2 * shape[0], (n, 1, shape[1]))
    first = rng.integers(0, 2 * shape[0], (n, 1, shape[1]))
    high = (np.arange(shape[0])[:, None] + first) // period % 2
    runs = np.where(high, rng.choice([255, 254, 128], (n, 1, 1)), rng.choice([0, 1], (n, 1, 1)))
    x = np.where(rng.random((n, 1, 1)) < 0.3, noise, runs)
    x[:2] = [[[0]], [[255]]]
    return x.reshape(n, -1).astype(np.uint8)


def kernel_exactness(case: Case) -> Iterator[Record]:
    """Yield how many of the windows differ from NumPy: by the formula, in C, and on the Uno."""
    samples, channels, kernels = case.given
    model = random_window_model(drawn_kernels_of(samples, channels, kernels))
    board = load_board("uno")
    with trial_build(model, board) as trial:
        chain = trial.model.chain
        stage = chain.stages[0]
        assert isinstance(stage, IntegerKernels)
        Q = _patterns(np.random.default_rng(5), _RUN, (samples, channels))
        counts = stage.run(Q)
        with watched_board(trial.program, trial.plan, board) as device:
            agreement, results = verify_device(
                "emulated uno", device.url, chain, Q, board=board, possible=trial.possible
            )
        usage = trial.usage
    host = verify_host(chain, Q)
    differing = (arrays_of(stage.formula, Q) != counts).any(axis=1)
    wrong = int(differing.sum()) + host.mismatches + agreement.mismatches + agreement.lost
    yield {
        "model": case.name,
        "windows": len(Q),
        "lowest": float((counts == 0).mean()),
        "highest": float((counts == stage.output.high).mean()),
        "formula": int(differing.sum()),
        "host": host.mismatches,
        "uno": agreement.mismatches + agreement.lost,
        "cycles": max(result.cycles or 0 for result in results),
        "flash": usage.flash_bytes,
        "sram": usage.sram_bytes,
        "holds": not wrong,
    }


BENCHMARKS = {
    "few_windows": Benchmark(
        "Accuracy (%) with 60 and 100 windows: the best list, what `auto` finds, kernels.",
        SETS,
        (
            *named("data", "windows", "seed", "found"),
            *(figure(f"{each} %", each, ".2f") for each in ("list", "auto", "kernels")),
            figure("gain", "gain", "+.2f"),
        ),
        few_windows,
        seeds=3,
    ),
    "kernel_exactness": Benchmark(
        "Windows whose counts differ from NumPy's: by the formula, in C, on the emulated Uno.",
        MODELS,
        (
            *named("model", "windows"),
            figure("counts of 0", "lowest", ".0%"),
            figure("largest counts", "highest", ".0%"),
            *named("formula", "host", "uno"),
            figure("most cycles", "cycles", ","),
            figure("flash B", "flash", ","),
            figure("SRAM B", "sram", ","),
        ),
        kernel_exactness,
    ),
}
