"""How often a drift is noticed within 50 answers, and how often one is reported falsely.

Classifiers are trained on some people of ``har_hapt.npz`` (movements) and ``fsdd_audio.npz``
(spoken digits); what to expect is taken from others as `train --calibrate` does, and points of
people that neither has seen are answered. Each point counts as a device counts it
(`observation.answers`), from a new start:

false alarms  share of days of 67,500 answers (a window every 1.28 s) with a drift. The answers are
              drawn from those of the calibration's people that were not used for it: every other
              one. It follows exactly from their share of unusual answers.
new people    share of runs of 50 answers with a drift, to points of other people as they are
faults        the same with a fault: two axes of all sensors exchanged; an axis stuck at 0, or at 1
              g; a microphone with half the gain

The divisions repeat this with the training people of har_hapt alone: 10 train, 5 calibrate, and the
faults are those of 6. A run is 50 random points of one person. In the table of movements, an axis
is exchanged by its features. Those of the magnitude, which need all samples, stay as they are with
a stuck axis, too.

`drift_costs` prints what counting adds on an Uno, from new people's first 160 points: to SRAM, to
flash, and to the cycles of a prediction. "wide" has scores of 32 bits.

The runner-up, the shares and the thresholds of `observation.answers` were chosen by the divisions
and by the people who calibrate. The margin and the sum were chosen after a look at the figures of
the measured people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import audio
import numpy as np
from columns import Record, figure, joined, named
from numpy.typing import NDArray
from runner import Benchmark, Case
from trained import DATA

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.projects.folder import project_files, write_scratch
from protonn_edge.codegen.verification.agreement import verify_device
from protonn_edge.extensions.observation.answers import (
    DRIFT,
    STEP,
    STILL_STEP,
    IntegerExpected,
    observed,
)
from protonn_edge.extensions.sound.features.audio.clips import fitted_to
from protonn_edge.kinds.dense.train import DenseClassifier
from protonn_edge.kinds.forest.train import ForestClassifier
from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.base import DeviceClassifier
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.expected_answers import ExpectedAnswers
from protonn_edge.model.integer_chain import IntegerChain, own_inputs
from protonn_edge.model.integer_stage import run_through
from protonn_edge.model.quantization import quantize
from protonn_edge.system.folders import scratch_folder

_ANSWERS, _RUNS = 50, 200
_DAY = 67_500
_MEASURED = 160
_STATISTICS = ("mean", "std", "min", "max", "madiff", "zc")

Points = NDArray[np.float32]
Rows = Callable[..., Iterator[Record]]

KINDS: dict[str, Callable[[], DeviceClassifier]] = {
    "protonn": lambda: ProtoNNClassifier(
        n_projections=10, n_prototypes=30, epochs=30, random_state=0
    ),
    "dense": lambda: DenseClassifier(hidden="20", epochs=30, random_state=0),
    "linear": lambda: LinearClassifier(random_state=0),
    "forest": lambda: ForestClassifier(random_state=0),
}
WIDE = {"wide": lambda: DenseClassifier(hidden="90", epochs=5, random_state=0)}


def runs_with_a_drift(model: IntegerChain, Q: NDArray[np.uint8], people: NDArray[Any]) -> float:
    """Return the share of runs of 50 random points, of a person each, with a drift."""
    assert isinstance(model.expected, IntegerExpected)
    scores, answers, x = model.scores(Q), model.predict(Q), own_inputs(model, Q)
    generator = np.random.default_rng(0)
    each = np.unique(people)
    places = [np.flatnonzero(people == person) for person in each]
    runs = (generator.choice(rows, _ANSWERS) for rows in places for _ in range(_RUNS))
    drifts = (model.expected.observed(scores[run], answers[run], x[run]).alarms > 0 for run in runs)
    return int(sum(drifts)) / (_RUNS * len(each))


def _shares(model: IntegerChain, Q: NDArray[np.uint8]) -> tuple[float, float]:
    """Return the share of unusual answers, and of those with a watched input of 0."""
    assert isinstance(model.expected, IntegerExpected)
    scores, answers, x = model.scores(Q), model.predict(Q), own_inputs(model, Q)
    every = np.ones_like(model.expected.runners_up)
    width = np.full_like(model.expected.width, 0xFFFF)
    still = replace(model.expected, width=width, runners_up=every)
    counts = [each.observed(scores, answers, x) for each in (model.expected, still)]
    return counts[0].unusual / len(Q), counts[1].unusual / len(Q)


def days_with_a_drift(unusual: float, still: float) -> float:
    """Return the share of days with a drift if answers are unusual with some probability.

    `still` is the part of this probability of answers with a watched input of 0.
    """
    step = np.zeros((DRIFT + 1, DRIFT + 1))
    for level in range(DRIFT):
        step[level, min(DRIFT, level + STILL_STEP)] += still
        step[level, min(DRIFT, level + STEP)] += unusual - still
        step[level, max(0, level - 1)] += 1 - unusual
    step[DRIFT, DRIFT] = 1
    return float(np.linalg.matrix_power(step, _DAY)[0, DRIFT])


def costs(
    name: str,
    known: tuple[Points, Any],
    calibrating: Points,
    other: tuple[Points, Any, Any],
    _: dict[str, Points],
) -> Iterator[Record]:
    """Yield a row for each kind of classifier: what counting adds."""
    board = load_board("uno")
    for kind, make in (KINDS | (WIDE if name == "fsdd" else {})).items():
        model = make().fit(*known).to_model()
        plain = quantize(model)
        model = replace(model, expected=ExpectedAnswers.of(plain, plain.quantize(calibrating)))
        Q, found = plain.quantize(other[0][:_MEASURED]), []
        for integers in (plain, observed(plain, model)):
            with scratch_folder() as folder:
                plan = make_plan(integers)
                contents = project_files(DeviceModel(model, integers), plan, board)
                elf = write_scratch(folder, contents).compile(board)
                with EmulatedUno(elf) as uno:
                    agreement, results = verify_device("emulated uno", uno.url, integers, Q)
                assert agreement.mismatches == agreement.lost == 0
                cycles = np.array([result.cycles or 0 for result in results])
                found.append((read_program(elf).sections, cycles))
        (before, cycles), (after, more) = found
        yield {
            "data": name,
            "kind": kind,
            "classes": plain.n_classes,
            "score_bits": plain.own_stages[-1].output.bits,
            "sram": after.sram_bytes - before.sram_bytes,
            "flash": after.flash_bytes - before.flash_bytes,
            "cycles": [int(cycle) for cycle in np.quantile(more - cycles, [0, 0.5, 1])],
        }


def measure(
    name: str,
    known: tuple[Points, Any],
    calibrating: Points,
    other: tuple[Points, Any, Any],
    faults: dict[str, Points],
) -> Iterator[Record]:
    """Yield a row for each kind of classifier."""
    X, y = known
    for kind, make in KINDS.items():
        model = make().fit(X, y).to_model()
        integers = quantize(model)
        Q, (X_other, y_other, people) = integers.quantize(calibrating), other
        model = replace(model, expected=ExpectedAnswers.of(integers, Q[::2]))
        integers = observed(integers, model)
        assert integers.expected is not None
        unusual, still = _shares(integers, Q[1::2])
        quantized = integers.quantize(X_other)
        shown = {}
        for fault, points in faults.items():
            faulty = integers.quantize(points)
            shown[fault] = {
                "noticed": runs_with_a_drift(integers, faulty, people),
                "accuracy": share_right(integers.predict(faulty), y_other),
            }
        yield {
            "data": name,
            "kind": kind,
            "unusual": unusual,
            "still": still,
            "false_alarms_a_day": days_with_a_drift(unusual, still),
            "new_people": runs_with_a_drift(integers, quantized, people),
            "accuracy": share_right(integers.predict(quantized), y_other),
            "faults": shown,
        }


def _faults(X: Points, names: list[str]) -> dict[str, Points]:
    """Return windows X (n, 46) with each fault, by its name; `names` are those of the features."""
    place = {name: index for index, name in enumerate(names)}

    def exchanged(order: str) -> Points:
        made: Points = X.copy()
        for sensor in ("acc", "gyro"):
            for axis, source in zip("xyz", order, strict=True):
                for name in _STATISTICS:
                    column = X[:, place[f"{sensor}-{source}_{name}"]]
                    made[:, place[f"{sensor}-{axis}_{name}"]] = column
        return made

    def stuck(axis: str, value: float) -> Points:
        made: Points = X.copy()
        for name in _STATISTICS:
            still = value if name in ("mean", "min", "max") else 0.0
            made[:, place[f"{axis}_{name}"]] = still
        return made

    faults = {order: exchanged(order) for order in ("yxz", "zyx", "xzy", "yzx", "zxy")}
    axes = [f"{sensor}-{axis}" for sensor in ("acc", "gyro") for axis in "xyz"]
    faults |= {f"{axis} at 0": stuck(axis, 0.0) for axis in axes}
    return faults | {f"{axis} at 1": stuck(axis, 1.0) for axis in axes[:3]}


def movements(rows: Rows) -> Iterator[Record]:
    """Yield the rows of har_hapt."""
    with np.load(DATA / "har_hapt.npz", allow_pickle=False) as data:
        X, y, people = data["X_train"], data["y_train"], data["subject_train"]
        X_other, y_other, others = data["X_test"], data["y_test"], data["subject_test"]
        names = data["feature_names"].tolist()
    calibrates = people >= 25
    known, other = (X[~calibrates], y[~calibrates]), (X_other, y_other, others)
    yield from rows("har", known, X[calibrates], other, _faults(X_other, names))


def divisions(rows: Rows) -> Iterator[Record]:
    """Yield the rows of three random divisions of har_hapt's people for training."""
    with np.load(DATA / "har_hapt.npz", allow_pickle=False) as data:
        X, y, people = data["X_train"], data["y_train"], data["subject_train"]
        names = data["feature_names"].tolist()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(np.unique(people))
        other, calibrates = np.isin(people, order[:6]), np.isin(people, order[6:11])
        known = ~other & ~calibrates
        tested = X[other], y[other], people[other]
        faults = _faults(X[other], names)
        yield from rows(f"division {seed + 1}", (X[known], y[known]), X[calibrates], tested, faults)


def words(rows: Rows) -> Iterator[Record]:
    """Yield the rows of fsdd_audio."""
    spoken = audio.read_spoken(DATA / audio.FILE)
    full = np.array([[-32768.0], [32767.0]]).repeat(audio.SAMPLES, axis=1)
    stage = fitted_to(full, 12, 20)

    def features(gain: float) -> Points:
        clips = np.rint(gain * spoken.clips.astype(np.float32)).astype(np.int16)
        return run_through(stage.stages, audio.heard(clips)).astype(np.float32)

    X, X_half = features(1.0), features(0.5)
    trains, calibrates, others = (
        np.isin(spoken.speakers, each) for each in ((0, 1, 2, 3), (4,), (5,))
    )
    known = X[trains], spoken.digits[trains]
    other = X[others], spoken.digits[others], spoken.speakers[others]
    yield from rows("fsdd", known, X[calibrates], other, {"half the gain": X_half[others]})


CASES = (
    Case("har", movements, "har_hapt.npz"),
    Case("divisions", divisions, "har_hapt.npz"),
    Case("fsdd", words, audio.FILE),
)


def _percent(share: float) -> str:
    return f"{100 * share:.3g}"


def _noticed(faults: dict[str, Record]) -> str:
    return ", ".join(
        f"{name} {_percent(fault['noticed'])} ({100 * fault['accuracy']:.0f})"
        for name, fault in faults.items()
    )


BENCHMARKS = {
    "drift": Benchmark(
        "How often drifts are noticed within 50 answers, and how often one is reported falsely.",
        CASES,
        (
            *named("data", "kind"),
            figure("unusual %", "unusual", _percent),
            figure("still %", "still", _percent),
            figure("false alarms % of days", "false_alarms_a_day", _percent),
            figure("new people %", "new_people", _percent),
            figure("noticed % (accuracy %)", "faults", _noticed),
        ),
        lambda case: case.given(measure),
    ),
    "drift_costs": Benchmark(
        "What counting answers adds to SRAM, flash and cycles: the least, median and most.",
        CASES,
        (
            *named("data", "kind", "classes", "score_bits", "sram", "flash"),
            figure("cycles", "cycles", joined),
        ),
        lambda case: case.given(costs),
    ),
}
