"""How often a drift is noticed within 50 answers, and how often one is reported without reason.

    python benchmarks/drift.py [--only har] [--json]

trains classifiers on some people of ``har_hapt.npz`` (movements) and ``fsdd_audio.npz`` (spoken
digits), takes what to expect from others as `calibrate` does, and answers points of people that
neither has seen. Each point counts as a device counts it (`chain.observation`), from a new start:

false alarms  share of days of 67,500 answers (a window every 1.28 s) with a drift. The answers are
              drawn from those of the calibration's people that were not used for it: every other
              one. It follows exactly from their share of unusual answers.
new people    share of runs of 50 answers with a drift, to points of other people as they are
faults        the same with a fault: two axes of all sensors exchanged; an axis stuck at 0, or at 1
              g; a microphone with half the gain

A run is 50 random points of one person. In the table of movements, an axis is exchanged by its
features. Those of the magnitude, which need all samples, stay as they are with a stuck axis, too.

Devices do not count inputs. The last columns show what this would add: a second sum, by which an
answer is unusual if more input bytes are 0 than of any calibrating point that got this class.

The share and the thresholds of `chain.observation` were chosen on the people who calibrate here.
The statistics were chosen after a look at the figures of the measured people, which are therefore
optimistic.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import rounding  # noqa: F401 - before NumPy
import audio
import click
import numpy as np
from numpy.typing import NDArray
from printing import Columns, Record, print_table
from rows import DATA

from protonn_edge.chain.integer_chain import observed
from protonn_edge.chain.observation import DRIFT, STEP, ExpectedAnswers
from protonn_edge.errors import ProtoNNEdgeError
from protonn_edge.evaluation.accuracy import share_right
from protonn_edge.features.audio.stage import AudioStage
from protonn_edge.kinds.dense.train import DenseClassifier
from protonn_edge.kinds.forest.train import ForestClassifier
from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.quantization import IntegerChain, quantize
from protonn_edge.training.base import DeviceClassifier

_ANSWERS, _RUNS = 50, 200
_FEWEST = 20  # points of a class, or else those of all classes count
_DAY = 67_500
_STATISTICS = ("mean", "std", "min", "max", "madiff", "zc")

Points = NDArray[np.float32]

KINDS: dict[str, Callable[[], DeviceClassifier]] = {
    "protonn": lambda: ProtoNNClassifier(
        n_projections=10, n_prototypes=30, epochs=30, random_state=0
    ),
    "dense": lambda: DenseClassifier(hidden="20", epochs=30, random_state=0),
    "linear": lambda: LinearClassifier(random_state=0),
    "forest": lambda: ForestClassifier(random_state=0),
}


def runs_with_a_drift(model: IntegerChain, Q: NDArray[np.uint8], people: NDArray[Any]) -> float:
    """Return the share of runs of 50 random points, of a person each, with a drift."""
    assert model.expected is not None
    scores, answers, expected = model.scores(Q), model.predict(Q), model.expected
    return _share_of_runs(
        people, lambda run: expected.observed(scores[run], answers[run]).alarms > 0
    )


def _share_of_runs(people: NDArray[Any], drifts: Callable[[NDArray[np.int64]], bool]) -> float:
    generator = np.random.default_rng(0)
    each = np.unique(people)
    places = [np.flatnonzero(people == person) for person in each]
    runs = (generator.choice(rows, _ANSWERS) for rows in places for _ in range(_RUNS))
    return sum(map(drifts, runs)) / (_RUNS * len(each))


class ZeroInputs:
    """The most input bytes of 0 among calibrating points Q (n, D), for each class."""

    def __init__(self, model: IntegerChain, Q: NDArray[np.uint8]) -> None:
        self._model = model
        zeros, classes = (Q == 0).sum(axis=1), model.scores(Q).argmax(axis=1)
        of_class = [zeros[classes == k] for k in range(model.n_classes)]
        self._most = np.array([(z if len(z) >= _FEWEST else zeros).max() for z in of_class])

    def exceeded(self, Q: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Return which points (n,) have more."""
        more: NDArray[np.bool_]
        more = (Q == 0).sum(axis=1) > self._most[self._model.scores(Q).argmax(axis=1)]
        return more

    def runs_with_a_drift(self, Q: NDArray[np.uint8], people: NDArray[Any]) -> float:
        """Return the share of runs of 50 random points, of a person each, with a drift."""
        more = self.exceeded(Q)

        def drifts(run: NDArray[np.int64]) -> bool:
            level = most = 0
            for unusual in more[run].tolist():
                level = level + STEP if unusual else max(0, level - 1)
                most = max(most, level)
            return most >= DRIFT

        return _share_of_runs(people, drifts)


def days_with_a_drift(unusual: float) -> float:
    """Return the share of days with a drift if each answer is unusual with some probability."""
    step = np.zeros((DRIFT + 1, DRIFT + 1))
    for level in range(DRIFT):
        step[level, min(DRIFT, level + STEP)] += unusual
        step[level, max(0, level - 1)] += 1 - unusual
    step[DRIFT, DRIFT] = 1
    return float(np.linalg.matrix_power(step, _DAY)[0, DRIFT])


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
        again = integers.expected.observed(integers.scores(Q[1::2]), integers.predict(Q[1::2]))
        unusual = again.unusual / again.answers
        quantized, zeros = integers.quantize(X_other), ZeroInputs(integers, Q[::2])
        shown = {}
        for fault, points in faults.items():
            faulty = integers.quantize(points)
            shown[fault] = {
                "noticed": runs_with_a_drift(integers, faulty, people),
                "noticed_by_zeros": zeros.runs_with_a_drift(faulty, people),
                "accuracy": share_right(integers.predict(faulty), y_other),
            }
        yield {
            "data": name,
            "kind": kind,
            "unusual": unusual,
            "false_alarms_a_day": days_with_a_drift(unusual),
            "new_people": runs_with_a_drift(integers, quantized, people),
            "accuracy": share_right(integers.predict(quantized), y_other),
            "zeros_false_alarms_a_day": days_with_a_drift(float(zeros.exceeded(Q[1::2]).mean())),
            "zeros_new_people": zeros.runs_with_a_drift(quantized, people),
            "faults": shown,
        }


def movements() -> Iterator[Record]:
    """Yield the rows of har_hapt."""
    with np.load(DATA / "har_hapt.npz", allow_pickle=False) as data:
        X, y, people = data["X_train"], data["y_train"], data["subject_train"]
        X_other, y_other, others = data["X_test"], data["y_test"], data["subject_test"]
        place = {str(name): index for index, name in enumerate(data["feature_names"])}

    def exchanged(order: str) -> Points:
        made: Points = X_other.copy()
        for sensor in ("acc", "gyro"):
            for axis, source in zip("xyz", order, strict=True):
                for name in _STATISTICS:
                    column = X_other[:, place[f"{sensor}-{source}_{name}"]]
                    made[:, place[f"{sensor}-{axis}_{name}"]] = column
        return made

    def stuck(axis: str, value: float) -> Points:
        made: Points = X_other.copy()
        for name in _STATISTICS:
            still = value if name in ("mean", "min", "max") else 0.0
            made[:, place[f"{axis}_{name}"]] = still
        return made

    faults = {order: exchanged(order) for order in ("yxz", "zyx", "xzy", "yzx", "zxy")}
    axes = [f"{sensor}-{axis}" for sensor in ("acc", "gyro") for axis in "xyz"]
    faults |= {f"{axis} at 0": stuck(axis, 0.0) for axis in axes}
    faults |= {f"{axis} at 1": stuck(axis, 1.0) for axis in axes[:3]}
    calibrates = people >= 25
    known = X[~calibrates], y[~calibrates]
    yield from measure("har", known, X[calibrates], (X_other, y_other, others), faults)


def words() -> Iterator[Record]:
    """Yield the rows of fsdd_audio."""
    spoken = audio.read_spoken(DATA / audio.FILE)
    full = np.array([[-32768.0], [32767.0]]).repeat(audio.SAMPLES, axis=1)
    stage = AudioStage.fitted(12, 20, full)

    def features(gain: float) -> Points:
        clips = np.rint(gain * spoken.clips.astype(np.float32)).astype(np.int16)
        return stage.of_bytes(audio.heard(clips)).astype(np.float32)

    X, X_half = features(1.0), features(0.5)
    trains, calibrates, others = (
        np.isin(spoken.speakers, each) for each in ((0, 1, 2, 3), (4,), (5,))
    )
    known = X[trains], spoken.digits[trains]
    other = X[others], spoken.digits[others], spoken.speakers[others]
    yield from measure("fsdd", known, X[calibrates], other, {"half the gain": X_half[others]})


ROWS: dict[str, Callable[[], Iterator[Record]]] = {"har": movements, "fsdd": words}


def _percent(share: float) -> str:
    return f"{100 * share:.3g}"


COLUMNS: Columns = [
    ("data", lambda record: record["data"]),
    ("classifier", lambda record: record["kind"]),
    ("unusual %", lambda record: _percent(record["unusual"])),
    ("false alarms % of days", lambda record: _percent(record["false_alarms_a_day"])),
    ("new people %", lambda record: _percent(record["new_people"])),
    (
        "noticed % (accuracy %)",
        lambda record: ", ".join(
            f"{name} {_percent(fault['noticed'])} ({100 * fault['accuracy']:.0f})"
            for name, fault in record["faults"].items()
        ),
    ),
    ("by zeros: false alarms %", lambda record: _percent(record["zeros_false_alarms_a_day"])),
    ("by zeros: new people %", lambda record: _percent(record["zeros_new_people"])),
    (
        "by zeros: noticed %",
        lambda record: ", ".join(
            f"{name} {_percent(fault['noticed_by_zeros'])}"
            for name, fault in record["faults"].items()
        ),
    ),
]


@click.command()
@click.option("--only", type=click.Choice(list(ROWS)), help="Measure only these data.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row.")
def main(only: str | None, as_json: bool) -> None:
    """Print how often drifts are noticed."""
    rows = (row for name, make in ROWS.items() if only in (None, name) for row in make())
    print_table(rows, COLUMNS, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
