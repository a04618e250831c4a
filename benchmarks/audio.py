"""Spoken digits from a microphone on the emulated Uno: accuracy, mismatches, cycles per sample.

Models are trained on the spoken digits of ``fsdd_audio.npz`` and tested with their official test
part, recordings 0 to 4 of each speaker and digit. Recordings are made as loud as an amplifier with
automatic gain makes them: the peak of each is at three quarters of full scale. A clip begins where
`pnn_onset` reports it.

The test part is classified by NumPy, by host C, by the firmware on the emulated Uno, to which
samples come over the serial line, and by a program that listens to a microphone (``listening.c``):
the recordings are played to the analog input at 8 kHz, one after the other, and the program finds
where they begin. A mismatch is a clip of which any score, or the class, differs from NumPy's.
Cycles of a sample are those of ``pnn_push`` as that program calls it, with the interrupts of the
sampling in between.

Each speaker is then held out in turn of a training on the others.

Settings were chosen on recordings 5 to 9, held out of the training part; the test part was read
once. Everything follows from the seed.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from columns import Record, figure, joined, mean_and_most, named, percent
from emulated import MEASURED, run_on_uno
from numpy.typing import NDArray
from runner import Benchmark, Case
from trained import DATA

from protonn_edge.chips.boards import Board, load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.renderer import render_c
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sound.onset import clip_of, onset_of
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize

FILE = "fsdd_audio.npz"
FEATURES = "audio:12x20"
SAMPLES = 5_120
ONSET = 4
SETTINGS: dict[str, Any] = {"n_projections": 12, "n_prototypes": 60}

_TESTED = 5  # recordings of each speaker and digit, the first ones
_PEAK = 0.75  # of full scale
_QUIET = 400  # samples before a recording

# Copies of each training clip that begin earlier or later, and are louder or softer.
_COPIES = 2
_SHIFT = 120
_GAINS = (0.6, 1.3)

_DEADLINE_S = 600.0

Int16 = NDArray[np.int16]
Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Spoken:
    """Recordings, of 16 bits and with silence around them; n digits, speakers and numbers."""

    recordings: list[Int16]
    digits: NDArray[np.int64]
    speakers: NDArray[np.int64]
    numbers: NDArray[np.int64]
    names: tuple[str, ...]

    def of(self, chosen: NDArray[np.bool_]) -> Spoken:
        """Return some of them."""
        kept = [self.recordings[place] for place in np.flatnonzero(chosen)]
        return Spoken(
            kept, self.digits[chosen], self.speakers[chosen], self.numbers[chosen], self.names
        )

    @property
    def clips(self) -> Int16:
        """The clips, (n, `SAMPLES`)."""
        return np.array([_clip(recording) for recording in self.recordings])

    def moved(self, generator: np.random.Generator) -> Int16:
        """Return clips that are moved and made louder or softer at random."""
        shifts = generator.integers(-_SHIFT, _SHIFT + 1, len(self.recordings))
        gains = generator.uniform(*_GAINS, len(self.recordings))
        moved = [
            np.clip(gain * _clip(recording, shift), -32_768, 32_767)
            for recording, shift, gain in zip(self.recordings, shifts, gains, strict=True)
        ]
        return np.array(moved).astype(np.int16)


def read_spoken(path: Path) -> Spoken:
    """Return what the file has."""
    with np.load(path, allow_pickle=False) as data:
        parts = np.split(data["samples"], data["offsets"][1:-1])
        digits, speakers, numbers = (
            data[name].astype(np.int64) for name in ("y", "speaker", "recording")
        )
        recordings = [_loud(part) for part in parts]
        names = tuple(map(str, data["speaker_names"]))
        return Spoken(recordings, digits, speakers, numbers, names)


def _loud(samples: Int16) -> Int16:
    """Return a recording with its peak where all have it, and with silence around it."""
    gain = _PEAK * 32_767 / np.abs(samples.astype(int)).max()
    return np.pad(np.floor(gain * samples).astype(np.int16), (_QUIET, SAMPLES + _SHIFT))


def heard(samples: Int16) -> Bytes:
    """Return the upper eight bits of what an analog input makes of samples."""
    return ((samples.astype(np.int32) >> 8) + 128).astype(np.uint8)


def _clip(recording: Int16, shift: int = 0) -> Int16:
    start = onset_of(heard(recording), ONSET)
    assert start is not None, "a recording is silent"
    start = max(0, start + shift)
    return recording[start : start + SAMPLES]


def train(spoken: Spoken, seed: int) -> Model:
    """Return a model of the recordings."""
    generator = np.random.default_rng(seed)
    clips = [spoken.clips, *(spoken.moved(generator) for _ in range(_COPIES))]
    classifier = ProtoNNClassifier(
        features=f"{FEATURES},onset:{ONSET}", random_state=seed, **SETTINGS
    )
    X = np.concatenate(clips).astype(np.float32)
    classifier.fit(X, np.tile(spoken.digits, 1 + _COPIES))
    model = classifier.to_model()
    assert isinstance(model.head, ProtoNNHead)
    return model


def measure(_case: Case, seed: int = 0) -> Record:
    """Train, and run the test part in all ways."""
    spoken = read_spoken(DATA / FILE)
    tested = spoken.numbers < _TESTED
    model, test = train(spoken.of(~tested), seed), spoken.of(tested)
    X, y = test.clips.astype(np.float32), test.digits
    ran = run_on_uno(model, Dataset(X[:0], y[:0], X, y, tuple(map(str, range(10)))))
    assert isinstance(ran.plan, Plan)
    return {
        **ran.record,
        "data": FILE,
        "features": FEATURES,
        "sizes": [*(size.number for size in model.sizes), model.n_classes],
        "float_accuracy": share_right(model.predict(X), y),
        "listened": len(test.recordings),
        **listen(ran.reference, ran.plan, test.recordings, load_board("uno")),
        "held_out": float(np.mean([*_held_out(spoken, seed)])),
    }


def _held_out(spoken: Spoken, seed: int) -> Iterator[float]:
    """Yield for each speaker the accuracy, in integers, of a model of the others."""
    for speaker in range(len(spoken.names)):
        test = spoken.of(spoken.speakers == speaker)
        integers = quantize(train(spoken.of(spoken.speakers != speaker), seed))
        Q = integers.quantize(test.clips.astype(np.float32))
        yield share_right(integers.predict(Q), test.digits)


def listen(
    model: IntegerChain, plan: Plan, recordings: list[Int16], board: Board
) -> dict[str, Any]:
    """Return the listening program's answers to recordings, and NumPy's."""
    played = [_played(recording) for recording in recordings]
    counts = ((np.concatenate(played) >> 6) + 512).astype(np.int16)
    microphone = PlayedSensor(sensor_kind("microphone"), counts[:, None], 8_000.0)
    answer = np.dtype(
        [
            ("label", "u1"),
            ("lost", "u1"),
            ("sum", "<u4"),
            ("latency", "<u4"),
            ("most", "<u2"),
            ("scores", f"<i{model.own_stages[-1].output.bits // 8}", model.n_classes),
        ]
    )
    with TemporaryDirectory() as folder:
        elf = _compiled(model, plan, Path(folder))
        with EmulatedUno(elf, sensors=[microphone]) as uno:
            answers = np.frombuffer(_received(uno, len(played) * answer.itemsize), answer)
            assert uno.stats().faults == ()
    found = [clip_of(heard(each), SAMPLES, ONSET) for each in played]
    classes, scores = model.answers(np.array(found))
    wrong = (answers["scores"] != scores).any(axis=1) | (answers["label"] != classes)
    per_ms = board.clock_hz / 1000
    return {
        "listening_mismatches": int(wrong.sum()),
        "samples_lost": int(answers["lost"].max()),
        "sample": {
            "mean": float(answers["sum"].mean()) / SAMPLES,
            "max": int(answers["most"].max()),
        },
        "listening_ms": int(answers["latency"].max()) / per_ms,
    }


def _played(recording: Int16) -> Int16:
    """Return a recording up to its clip's end, and silence, in which the class is computed."""
    start = onset_of(heard(recording), ONSET)
    assert start is not None
    return np.pad(recording[: start + SAMPLES], (0, _QUIET))


def _compiled(model: IntegerChain, plan: Plan, folder: Path) -> Path:
    for name, text in render_c(model, plan).items():
        (folder / name).write_text(text)
    sources = [Path(__file__).with_name("listening.c"), folder / "pnn_model.c"]
    flags = ["-mmcu=atmega328p", "-std=gnu99", "-O2", "-Wall", "-Wextra", f"-I{folder}"]
    elf = folder / "listening.elf"
    command = ["avr-gcc", *flags, "-o", str(elf), *map(str, sources)]
    subprocess.run(command, check=True, timeout=120)
    return elf


def _received(uno: EmulatedUno, size: int) -> bytes:
    received = b""
    with socket.create_connection(("127.0.0.1", uno.port)) as line:
        line.settimeout(_DEADLINE_S)
        while len(received) < size:
            part = line.recv(65_536)
            assert part, uno.stats()
            received += part
    return received[:size]


BENCHMARKS = {
    "audio": Benchmark(
        "Spoken digits from a microphone: how well they are told apart, and what they take.",
        [Case("fsdd", file=FILE)],
        (
            *named("data", "features"),
            figure("d, m, L", "sizes", joined),
            figure("float %", "float_accuracy", percent),
            figure("Uno %", "accuracy", percent),
            *MEASURED,
            *named("listened", "listening_mismatches", "samples_lost"),
            figure("cycles of a sample (max)", "sample", mean_and_most),
            figure("ms to the class", "listening_ms", ".2f"),
            figure("another speaker %", "held_out", lambda share: f"{100 * share:.1f}"),
        ),
        measure,
    ),
}
