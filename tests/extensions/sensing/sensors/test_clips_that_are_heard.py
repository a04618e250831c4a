"""An emulated Uno hears clips at its analog input."""

from __future__ import annotations

import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
from avr_tools import EMULATED_AVR, skip_without
from checkout import CHECKOUT
from extensions.sound.audio_factory import audio_of, random_audio_model
from generated_programs import write_c

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.planner import make_plan
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sound.onset import clip_of
from protonn_edge.model.quantization import quantize

ONSET = 6


STAGE = audio_of(4, 2, 128)
STAGE = replace(STAGE, stages=(replace(STAGE.stages[0], onset=ONSET),))


def uno_says(uno: EmulatedUno, size: int) -> bytes:
    """Return the first bytes that an emulated Uno sends."""
    said = b""
    with socket.create_connection(("127.0.0.1", uno.port)) as line:
        line.settimeout(60.0)
        while len(said) < size and (part := line.recv(65_536)):
            said += part
    return said[:size]


def test_an_emulated_uno_hears_clips_at_its_analog_input(tmp_path: Path) -> None:
    """Compare what ``benchmarks/listening.c`` answers to a microphone with NumPy's answers."""
    skip_without(*EMULATED_AVR)
    model = quantize(random_audio_model(STAGE))
    write_c(model, tmp_path, make_plan(model))
    sources = [CHECKOUT / "benchmarks" / "listening.c", tmp_path / "pnn_model.c"]
    command = ["avr-gcc", "-mmcu=atmega328p", "-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror"]
    elf = tmp_path / "listening.elf"
    subprocess.run([*command, f"-I{tmp_path}", *sources, "-o", elf], check=True, timeout=60)
    t, quiet = np.arange(256), np.zeros(300)
    tones = [90 * np.sin(turn * t) for turn in (0.4, 1.1, 2.3)]
    recordings = [128 + np.concatenate([quiet, tone, quiet]) for tone in tones]
    played = np.concatenate(recordings).astype(np.uint8)
    counts = (4 * played.astype(np.int16) + 1)[:, None]
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
    microphone = PlayedSensor(sensor_kind("microphone"), counts, 8_000.0)
    with EmulatedUno(elf, sensors=[microphone]) as uno:
        answers = np.frombuffer(uno_says(uno, len(tones) * answer.itemsize), answer)
        assert uno.stats().faults == ()
    clips = [clip_of(each.astype(np.uint8), 256, ONSET) for each in recordings]
    classes, scores = model.answers(np.array(clips))
    assert (answers["scores"] == scores).all()
    assert (answers["label"] == classes).all()
    assert not answers["lost"].any()
    assert answers["most"].max() < 1_990
