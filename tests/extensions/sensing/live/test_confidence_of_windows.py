"""The confidence that `monitor` prints is that of the window's own class, and is never certain."""

from __future__ import annotations

import numpy as np
import pytest
from extensions.sensing.lines import Line, live, named
from rich.console import Console

from protonn_edge.extensions.sensing.commands.monitor import _line, picture
from protonn_edge.extensions.sensing.listener import Listener
from protonn_edge.extensions.sensing.sensor_board import WindowAnswer
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.confidence.rule import Confidence

SPEED = {"idle": 0, "walking": 4, "running": 9}
HEIGHT = {"idle": 0, "walking": 90, "running": 260}
SAMPLES = 60


def moving(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return windows of counts of an accelerometer, which are easily told apart."""
    t = np.arange(SAMPLES * n) / 50
    swing = [HEIGHT[kind] * np.sin(SPEED[kind] * t + phase) for phase in (0, 1, 2)]
    still = np.array([0, 0, 256])
    counts = np.stack(swing, axis=1) + still + rng.normal(0, 6, (len(t), 3))
    return np.rint(counts).reshape(n, SAMPLES, 3)


def flat(windows: np.ndarray) -> np.ndarray:
    return windows.reshape(len(windows), -1).astype(np.float32)


def test_a_window_of_two_classes_is_less_certain_than_one_of_a_class() -> None:
    rng = np.random.default_rng(0)
    X = flat(np.concatenate([moving(kind, 30, rng) for kind in SPEED]))
    features = "mean,deviation,crossings:2,bands:3"
    classifier = ProtoNNClassifier(
        features=features, window_shape=(SAMPLES, 3), epochs=60, random_state=0
    ).fit(X, np.repeat(list(SPEED), 30))
    model = quantize(classifier.model_)
    mixed = moving("idle", 20, rng)
    mixed[:, SAMPLES // 2 :] = moving("running", 20, rng)[:, SAMPLES // 2 :]
    of_one, of_two = (
        model.policy.find(Confidence).percent(model.scores(model.quantize(points)))
        for points in (X, flat(mixed))
    )
    assert 90 < of_one.mean() < 99
    assert of_two.mean() < of_one.mean() - 10


@pytest.fixture
def listener() -> Listener:
    listener = Listener(Line(), "there")
    listener.stream.feed(live() + named("idle", "walking"))
    return listener


def drawn(listener: Listener, answer: WindowAnswer) -> list[str]:
    console = Console(width=100, force_terminal=False)
    with console.capture() as capture:
        console.print(picture(listener.named(answer)))
    return capture.get().splitlines()


def test_the_class_of_several_windows_is_shown_without_the_confidence_of_one(
    listener: Listener,
) -> None:
    answer = WindowAnswer(0, 0, 0, label=1, reported=0, percent=97, scores=(-5, 90))
    lines = drawn(listener, answer)
    assert lines[0].strip() == "idle"
    sure = [line for line in lines if "97 % sure" in line]
    assert len(sure) == 1
    assert "walking" in sure[0]
    assert _line(listener.named(answer)).endswith("idle  (window: walking, score 90, 97 % sure)")


def test_nothing_is_shown_as_certain(listener: Listener) -> None:
    answer = WindowAnswer(0, 0, 0, label=1, reported=1, percent=100, scores=(-5, 90))
    assert any("over 99 % sure" in line for line in drawn(listener, answer))
    assert "over 99 % sure" in _line(listener.named(answer))
