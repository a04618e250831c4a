"""What devices count about their answers is what NumPy counts, and a fault does no harm."""

from __future__ import annotations

import socket
import time
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from byte_programs import answer_on, answered_by, host_program, uno_program
from command_line import run, run_json, succeed
from convolution_factory import random_layers, random_window_layers
from convolution_factory import random_model as random_convolution_model
from extensions.observation.conformance.decision import observing
from extensions.research.bonsai_factory import random_bonsai_model
from extensions.sensing.logger_builds import listening, noise
from forest_factory import random_forest_model
from generated_programs import assert_equal_to_reference
from judging_rules import Weak, add_templates, both_orders, judged_by_both
from linear_factory import random_linear_model
from model_factory import (
    random_inputs,
    random_model,
    random_pooling_model,
    random_window_model,
    window_features_of,
)

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.chips.toolchain.platformio import build_firmware
from protonn_edge.codegen.host import host_program as compiled
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.data.points.instruments import Instrument
from protonn_edge.device.protocol import DELIMITER, encode_message
from protonn_edge.extensions.observation.answers import (
    BINS,
    DRIFT,
    FEWEST_ANSWERS,
    MOST_LEVEL,
    Health,
    observed,
)
from protonn_edge.extensions.observation.messages import HealthReply
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.listener import AnswerStream
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.sampling import Sampling
from protonn_edge.extensions.sensing.sensor_projects import live_files
from protonn_edge.extensions.sensing.windowing import windowing_of
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.expected_answers import ExpectedAnswers, _watched
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.integer_chain import IntegerChain, own_inputs
from protonn_edge.model.model import Model
from protonn_edge.model.policy import with_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.model.watch import watchable_inputs
from protonn_edge.policy.rejection.rule import IntegerRejection, Rejection, margins
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import write_atomically

MAIN = Path(__file__).with_name("observed_main.c")
_RESET_CYCLES = 16_000 * 60  # for the watchdog's 15 ms and the start, fourfold
VERDICTS = ("new", "good", "drift")


@cache
def chain() -> tuple[IntegerChain, np.ndarray]:
    """Return a chain that rejects some points and is observed, and points half of which drift.

    It watches inputs that are never 0 for the first two classes.
    """
    model = quantize(random_linear_model(features=12, classes=5))

    def usual(Q: np.ndarray) -> np.ndarray:
        best, second = np.argsort(-model.scores(Q), axis=1, kind="stable")[:, :2].T
        return second != (best + 1) % model.n_classes

    Q, known = random_inputs(3, 300, model), random_inputs(4, 1500, model)
    strange = np.where(Q[200:] % 2, model.quantizer.maximum, 0).astype(np.uint8)  # corners
    points = np.concatenate([np.maximum(Q[usual(Q)], 1), Q[~usual(Q)], strange])
    least = int(np.quantile(margins(model.scores(Q)), 0.1))
    rejecting = with_rules(model, IntegerRejection(margin=least))
    known = known_with_zeros(model, known)
    return observing(rejecting, known[usual(known)]), points


def known_with_zeros(model: IntegerChain, known: np.ndarray) -> np.ndarray:
    """Return points without zeros, and some with zeros to which the model gives other classes."""
    zeros = np.where(np.random.default_rng(5).random(known.shape) < 0.3, 0, known).astype(np.uint8)
    return np.concatenate([np.maximum(known, 1), zeros[model.predict(zeros) > 1]])


def counted(content: bytes) -> tuple[Health, str]:
    model, _ = chain()
    health = Health.of_bytes(content[:-1], model.n_classes)
    assert health is not None
    assert model.expected is not None
    assert int.from_bytes(content[:4], "little") == model.expected.tag
    return health, VERDICTS[content[-1]]


def of_numpy(points: np.ndarray) -> Health:
    model, _ = chain()
    assert model.expected is not None
    return model.expected.observed(
        model.scores(points), model.predict(points), own_inputs(model, points)
    )


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return host_program(chain()[0], MAIN, tmp_path_factory.mktemp("observed"))


def test_host_c_counts_like_numpy_under_sanitizers(program: Path) -> None:
    _, points = chain()
    seen = set()
    for n in (0, 30, 150, len(points)):
        commands = "pa"[n % 4 == 2 :]  # push the features, or all at once
        sent = b"".join(
            commands[i % len(commands)].encode() + point.tobytes()
            for i, point in enumerate(points[:n])
        )
        expected = of_numpy(points[:n])
        assert counted(answered_by(program, sent + b"d")) == (expected, expected.verdict)
        seen.add(expected.verdict)
    assert seen == set(VERDICTS)
    model, _ = chain()
    best, second = np.argsort(-model.scores(points), axis=1, kind="stable")[:, :2].T
    assert model.expected is not None
    assert np.unique(second[~model.expected.runners_up[best, second]]).size == model.n_classes
    assert min(expected.margins) > 0 < expected.unknown
    assert model.expected.watched
    assert model.expected.moving.tolist() == [True, True, False, False, False]
    without = replace(model.expected, watched=range(0))
    scores, answers = model.scores(points), model.predict(points)
    assert expected.unusual > without.observed(scores, answers, points).unusual


def test_counters_stay_full(program: Path) -> None:
    _, points = chain()
    sent = (b"p" + points[-1].tobytes()) * 66_000 + b"d"
    full, _ = counted(answered_by(program, sent))
    assert full == of_numpy(points[-1:].repeat(66_000, axis=0))
    assert max(full.margins) == 65_535


@needs_emulated_avr
def test_the_uno_counts_on_after_a_watchdogs_reset_but_not_with_damaged_counters(
    tmp_path: Path,
) -> None:
    model, points = chain()
    elf = uno_program(model, MAIN, tmp_path)
    n_bytes = model.expected.n_bytes + 1 if model.expected else 0
    with (
        EmulatedUno(elf) as uno,
        socket.create_connection(("127.0.0.1", uno.port), timeout=20.0) as line,
    ):
        # Else, each request waits 40 ms, until what was sent before it is acknowledged.
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def dumped() -> tuple[Health, str]:
            line.sendall(b"d")
            return counted(answer_on(line, n_bytes))

        def classify(some: np.ndarray) -> None:
            for point in some:
                line.sendall(b"p" + point.tobytes())
                dumped()  # it can take no more meanwhile

        def reset() -> None:
            until = uno.stats().cycles + _RESET_CYCLES
            line.sendall(b"w")
            while uno.stats().cycles < until:
                time.sleep(0.002)

        classify(points[:20])
        reset()
        classify(points[20:240])
        expected = of_numpy(points[:240])
        assert dumped() == (expected, expected.verdict)
        for place in (1, n_bytes - 3):  # the tag, and a level that is too high
            line.sendall(b"k" + bytes([place]))
            reset()
            assert dumped() == (of_numpy(points[:0]), "new")
            classify(points[:3])
        assert uno.stats().faults == ()


def test_counters_of_other_expected_answers_are_not_kept() -> None:
    model = chain()[0]
    points = random_inputs(4, 1500, model)
    again, other = (observing(model, each).expected for each in (points, points[:1000]))
    assert again is not None
    assert other is not None
    assert again.tag == observing(model, points).expected.tag != other.tag


def test_few_points_and_models_that_cannot_be_observed_give_no_statistics() -> None:
    model = random_model(1, features=12, prototypes=20, classes=5)
    integers = quantize(model)
    assert ExpectedAnswers.of(integers, random_inputs(3, 99, integers)) is None
    with pytest.raises(
        InputError, match="at least 100 points .* with 'protonn-edge train DATA --calib"
    ):
        observed(integers, model)
    many = quantize(random_model(1, features=12, prototypes=20, classes=16))
    assert ExpectedAnswers.of(many, random_inputs(3, 200, many)) is None
    with pytest.raises(InputError, match="a model of 16 classes, but only models of 2 to 15"):
        observed(many, model)


KINDS = {
    "columns": lambda: (quantize(random_model(1, features=12, prototypes=20)), "columns"),
    "columns, 300 inputs": lambda: (quantize(random_model(1, features=300)), "columns"),
    "packed": lambda: (quantize(random_linear_model(features=12)), "columns"),
    "unrolled": lambda: (quantize(random_linear_model(features=21)), "unrolled"),
    "forest": lambda: (quantize(random_forest_model()), None),
    "bonsai": lambda: (quantize(random_bonsai_model()), None),
    "windows": lambda: (
        quantize(random_window_model(window_features_of("mean,deviation,change", 8, 2))),
        None,
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_watches_inputs_that_are_pushed_all_there_or_missing(
    tmp_path: Path, name: str
) -> None:
    plain, kernel = KINDS[name]()
    known, points = random_inputs(3, 200, plain), random_inputs(4, 90, plain)
    points[::3] = np.where(points[::3] % 2, points[::3], 0)
    watching = observing(plain, known)
    assert watching.expected is not None
    n = plain.n_inputs
    moving, watched = np.arange(plain.n_classes) % 4 != 3, range(n % 6 + n // 6, n, n // 6 or 1)
    expected = replace(watching.expected, watched=watched[len(watched) % 2 :], moving=moving)
    watching = replace(watching, expected=expected)
    program = host_program(watching, MAIN, tmp_path, make_plan(watching, kernel=kernel))
    sent = b"".join(b"pah"[i % 3 :][:1] + each.tobytes() for i, each in enumerate(points)) + b"d"
    found = answered_by(program, sent)
    points[2::3, plain.n_features // 2 :] = 0  # features that are not pushed count as 0
    of = watching.scores(points), watching.predict(points), own_inputs(watching, points)
    counts = expected.observed(*of)
    assert Health.of_bytes(found[:-1], plain.n_classes) == counts
    assert counts.unusual > replace(expected, moving=moving & False).observed(*of).unusual


def test_inputs_are_watched_that_are_0_at_rest_only() -> None:
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 3, 1000)
    zero = rng.random((1000, 18)) < 0.3
    zero &= (classes[:, None] == 2) & (np.arange(18) % 3 == 1)
    watched, moving = _watched(zero, classes, 3)
    assert list(watched) == [1, 4, 7, 10, 13, 16]
    assert moving.tolist() == [True, True, False]
    zero[0], classes[0] = True, 1
    assert _watched(zero, classes, 3)[1].tolist() == [True, False, False]
    assert _watched(zero & False, classes, 3)[0] == range(0)  # none of the inputs can be 0
    assert _watched(zero[:250], classes[:250], 3)[0] == range(0)  # classes of too few points


def test_features_of_images_and_of_layers_are_not_watched() -> None:
    pooling = average_pooling((8, 8), (8, 8), (4, 4))
    layers = (random_layers(), random_window_layers())
    for model in (random_pooling_model(pooling), *map(random_convolution_model, layers)):
        chain = quantize(model)
        assert (
            watchable_inputs(chain.features, chain.n_inputs)
            == watchable_inputs(model.features, model.n_inputs)
            == 0
        )
        expected = ExpectedAnswers.of(chain, np.ones((400, chain.n_features), np.uint8))
        assert expected is not None
        assert expected.watched == range(0)
        assert ExpectedAnswers.of_array(expected.to_array(), chain.n_classes, 0).watched == range(0)
    windows = random_window_model(window_features_of("mean,deviation", 8, 2))
    assert watchable_inputs(windows.features, windows.n_inputs) == windows.n_inputs == 4
    assert watchable_inputs(None, 2**15) == 0


def test_about_one_in_a_hundred_known_answers_is_unusual() -> None:
    model = quantize(random_linear_model())
    Q = random_inputs(3, 4000, model)
    watching = observing(model, Q[:2000])
    assert watching.expected is not None
    counts = watching.expected.observed(model.scores(Q[2000:]), model.predict(Q[2000:]), Q[2000:])
    assert 5 <= counts.unusual <= 40
    assert max(counts.margins) < 1.3 * 2000 / BINS
    assert sum(counts.margins) == counts.answers == 2000


def of_file(tmp_path: Path) -> tuple[Model, Path]:
    model = random_model(1, features=12, prototypes=20, classes=5)
    integers = quantize(model)
    known = known_with_zeros(integers, random_inputs(3, 1000, integers))
    expected = ExpectedAnswers.of(integers, known)
    assert expected is not None
    assert expected.watched
    path = tmp_path / "model.npz"
    save_model(replace(model, expected=expected), path)
    return load_model(path), path


def test_a_model_file_keeps_the_statistics_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    model, path = of_file(tmp_path)
    assert model.expected is not None
    kept = model.expected.to_array()
    assert len(kept) == 4 * 5 + 7 + 5 * 5 + 3 + 5
    assert observed(quantize(model), model).model_sha256 == quantize(model).model_sha256
    with np.load(path, allow_pickle=False) as data:
        arrays = dict(data)
    places = [(0, 12, 0), (0, 12, 1), (2, 15, 4), (1, 7, 3), (0, 12, 5), (0, 1e300, 1)]
    others = [np.concatenate([kept[:-8], place, kept[-5:]]) for place in places]
    for bad in (kept[:-1], kept * np.nan, -kept, kept[:, None], *others):
        np.savez(path, **arrays | {"observation.expected": bad})
        with pytest.raises(InputError, match="observation.expected: "):
            load_model(path)


def test_calibration_without_a_rate_measures_answers_alone(tmp_path: Path) -> None:
    model, path = of_file(tmp_path)
    integers, points, new = quantize(model), tmp_path / "points.npz", tmp_path / "new.npz"
    for n in (99, 100):
        X = integers.quantizer.restore(random_inputs(5, n, integers)).astype(np.float32)
        np.savez(points, X=X, y=["class 0"] * n)
        done = run("train", points, "--calibrate", path, "-o", new)
        assert (done.exit_code, new.exists()) == ((2, False) if n < 100 else (0, True))
        assert ("at least 100 points" in done.stderr) == (n < 100)
    found, wanted = load_model(new), ExpectedAnswers.of(integers, integers.quantize(X))
    assert found.policy.find(Rejection) is None
    assert found.expected is not None
    assert wanted is not None
    assert np.array_equal(found.expected.to_array(), wanted.to_array())

    np.savez(points, X=X[:50], y=["class 0"] * 50)
    few = tmp_path / "few.npz"
    succeed("train", points, "--calibrate", new, "-o", few, "--rejection", "90%")
    found = load_model(few)  # thresholds take fewer points, and leave the answers as they were
    assert found.policy.find(Rejection) is not None
    assert found.expected is not None
    assert np.array_equal(found.expected.to_array(), wanted.to_array())


@needs_emulated_avr
def test_health_reads_and_explains_what_a_board_has_counted(tmp_path: Path) -> None:
    model, path = of_file(tmp_path)
    folder = tmp_path / "project"
    succeed("build", path, "--observe", "-o", folder)
    Q = random_inputs(3, 120, quantize(model))
    Q[60:, ::2] = 0
    data = tmp_path / "points.npz"
    X = quantize(model).quantizer.restore(Q)
    np.savez(data, X=X.astype(np.float32), y=["class 0"] * len(Q))
    succeed("verify", folder, "-o", tmp_path / "certificate.json")
    with EmulatedUno(Project(folder).compile(load_board("uno"))) as uno:
        assert run_json("monitor", "--health", path, "--port", uno.url)["verdict"] == "new"
        words = "hil", data, "--project", folder, "--port", uno.url, "-o", tmp_path / "run.csv"
        measured = run_json(*words)["health"]
        found = run_json("monitor", "--health", path, "--port", uno.url)
        watching = observed(quantize(model), model)
        assert watching.expected is not None
        counts = watching.expected.observed(watching.scores(Q), watching.predict(Q), Q)
        assert found["answers"] == len(Q) >= FEWEST_ANSWERS
        assert found["classes"] == list(counts.classes)
        assert found["unusual"] == counts.unusual
        assert {key: found[key] for key in measured} == measured
        shown = succeed("monitor", "--health", path, "--port", uno.url).output
        assert "smallest first" in shown
        other = random_model(2, features=12, prototypes=20, classes=5)
        save_model(replace(other, expected=model.expected), path)
        refused = run("monitor", "--health", path, "--port", uno.url)
        assert refused.exit_code == 1
        assert "runs another model" in refused.output


def test_shares_of_full_counters_are_not_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path = of_file(tmp_path)
    health = Health(0, 0, 9, (5, 5, 5, 65_534), (65_534, 0, 0, 0, 15), 0, 0)
    monkeypatch.setattr("protonn_edge.extensions.observation.monitor.Link", lambda *_: BytesIO())
    for full in (False, True):
        seen = replace(health, classes=(65_535, *health.classes[1:])) if full else health
        monkeypatch.setattr(
            "protonn_edge.extensions.observation.monitor.read_health",
            lambda *_, seen=seen: seen,
        )
        shown = succeed("monitor", "--health", path, "--port", "p").stdout
        assert ("(100 %)" in shown, "margins" in shown) == (not full, not full)
        stopped = "no drift so far: a counter has stopped at 65,535, so the shares of"
        assert (stopped in shown) == full


@needs_emulated_avr
def test_live_firmware_sends_what_numpy_counts_and_other_counters_are_refused(
    tmp_path: Path,
) -> None:
    model = random_window_model(window_features_of("mean,min", 8, 6))
    chain, kind = quantize(model), sensor_kind("mpu6050")
    usual = chain.raw_inputs.quantize(noise(8 * 120, 6, -9000, 9000).reshape(120, -1))
    watching = observing(chain, usual)
    assert watching.expected is not None
    sampling = Sampling.of([kind], 100.0, load_board("uno"))
    windows = windowing_of(
        watching,
        model.feature_names,
        sampling,
        instrument=Instrument(kind.name, kind.channel_units),
    )
    for file, text in live_files(windows, make_plan(watching)).items():
        write_atomically(tmp_path / file, text.replace("-Wall -Wextra", "-Wall -Wextra -Werror"))
    heard = AnswerStream()
    played = np.full((8, 6), 32767, np.int16)  # one window: the counters may begin with any
    with EmulatedUno(build_firmware(tmp_path), sensors=[PlayedSensor(kind, played, 100.0)]) as uno:
        with listening(uno.url) as line:
            counters = heard.parts["observation"]
            while counters.health is None or counters.health.answers < 20:
                heard.feed(line.read(20.0))
        assert uno.stats().faults == ()
    Q = chain.raw_inputs.quantize(played.reshape(1, -1)).repeat(counters.health.answers, axis=0)
    scores, x = watching.scores(Q), own_inputs(watching, Q)
    assert counters.health == watching.expected.observed(scores, watching.predict(Q), x)
    assert counters.health.verdict == "drift"
    assert "drift: the latest answers differ" in str(heard.take_warning())
    heard.feed(DELIMITER)  # ends a frame of which only a part was read
    kept, torn = counters.health, heard.torn
    for content in (b"", bytes(33)):
        heard.feed(DELIMITER + encode_message(HealthReply(content), 0))
        torn += 1
        assert (heard.torn, counters.health) == (torn, kept)


@pytest.mark.parametrize("content", [b"", bytes(33), bytes(30) + bytes([MOST_LEVEL + 1, 0])])
def test_counters_that_no_device_has_are_none(content: bytes) -> None:
    assert Health.of_bytes(content, 5) is None
    assert Health.of_bytes(bytes(30) + bytes([DRIFT, 1]), 5) is not None


@both_orders
def test_of_two_rules_that_judge_the_first_decides(
    rule: type[Weak], decides: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_templates(monkeypatch)
    chain, Q, by_both = judged_by_both(rule)
    observed = observing(chain, np.tile(Q, (10, 1)))
    with compiled(observed, make_plan(observed), sanitize=True) as program:
        assert_equal_to_reference(program, observed, Q)
    assert set(observed.predict(Q[by_both]).tolist()) == {decides}
