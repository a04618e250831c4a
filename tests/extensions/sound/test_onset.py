"""Where a clip begins: the same sample in Python and in C, on the host and on the emulated Uno."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from avr_tools import skip_without
from extensions.sound.audio_factory import audio_of, random_audio_model
from generated_programs import write_c
from refusals import refused_by

from protonn_edge.extensions.sound.features.audio.onset import Clips
from protonn_edge.extensions.sound.onset import check_onset, clip_of, onset_of, onsets_of
from protonn_edge.model.quantization import quantize
from protonn_edge.model.signals import QUIET

ONSET = 6
STAGE = audio_of(4, 2, 128)
STAGE = replace(STAGE, stages=(replace(STAGE.stages[0], onset=ONSET),))

# Prints the place of each sample at which a clip begins, and begins to listen again there.
_ON_HOST = """
#include "pnn_model.h"
#include <stdio.h>
int main(void)
{
    int sample, place = 0;
    for (; (sample = getchar()) != EOF; ++place) {
        if (pnn_onset((uint8_t)sample)) {
            printf("%d\\n", place);
            pnn_begin();
        }
    }
    return 0;
}
"""


def sounds(seed: int) -> np.ndarray:
    """Return bytes of three tones with silence between them."""
    rng = np.random.default_rng(seed)
    t = np.arange(400)
    parts = [np.zeros(90)]
    for loud in (9, 40, 120):
        parts += [loud * np.sin(rng.uniform(0.3, 2) * t), np.zeros(90)]
    return (128 + np.concatenate(parts) + rng.integers(0, 3, 4 * 90 + 3 * 400)).astype(np.uint8)


def begins(b: np.ndarray) -> list[int]:
    """Return where clips begin, if each ends with the sample that begins it."""
    places, start = [], 0
    while (found := onset_of(b[start:], ONSET)) is not None:
        places.append(start + found)
        start += found + 1
    return places


def test_silence_has_no_onset() -> None:
    assert onset_of(np.full(900, 77, np.uint8), 1) is None
    assert onset_of(np.zeros(0, np.uint8), 1) is None
    assert clip_of(np.full(900, 77, np.uint8), 100, 1) is None


def test_a_clip_begins_with_the_sound_and_is_filled_at_its_end() -> None:
    b = np.full(300, 128, np.uint8)
    b[100:200:4] = 255
    start = onset_of(b, 4)
    assert start is not None
    assert 100 < start < 110
    clip = clip_of(b, 256, 4)
    assert clip is not None
    assert (clip == np.concatenate([b[start:], np.full(256 - 300 + start, b[-1])])).all()


@pytest.mark.parametrize("onset", [0, 255])
def test_a_threshold_out_of_range_is_refused(onset: int) -> None:
    with refused_by("extensions.sound.onset"):
        check_onset(onset)


def test_host_c_finds_the_same_places(tmp_path: Path) -> None:
    skip_without("cc")
    write_c(quantize(random_audio_model(STAGE)), tmp_path)
    (tmp_path / "main.c").write_text(_ON_HOST)
    sources = [tmp_path / "main.c", tmp_path / "pnn_model.c"]
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined"]
    subprocess.run(["cc", *flags, *sources, "-o", tmp_path / "main"], check=True, timeout=60)
    b = np.concatenate([sounds(seed) for seed in range(5)])
    ran = subprocess.run([tmp_path / "main"], input=b.tobytes(), capture_output=True, check=True)
    assert [int(line) for line in ran.stdout.split()] == begins(b) != []


def test_a_long_sound_begins_one_clip() -> None:
    quiet, sound = np.full(2000, 128), 128 + 60 * np.sin(np.arange(3000) / 2)
    b = np.concatenate([quiet, sound, quiet[:QUIET], sound, quiet[: QUIET // 2], sound])
    begins = list(onsets_of(b.astype(np.uint8), 500, 4))
    assert len(begins) == 2
    assert 0 < begins[0] - 2000 < 50
    assert 0 < begins[1] - (5000 + QUIET) < 50
    assert list(onsets_of(b.astype(np.uint8)[:2300], 500, 4)) == []


def test_clips_of_a_part_of_a_recording_begin_where_its_sounds_do() -> None:
    loud = 0.5 * np.sin(np.arange(600) / 2)
    sound = np.concatenate([np.zeros(2_000), loud, np.zeros(3_000), loud, np.zeros(1_000)])
    clips = Clips.of(sound.astype(np.float32)[:, None], 500, 4)
    begins = list(clips.begins(0, len(sound)))
    assert begins == [pytest.approx(2_000, abs=40), pytest.approx(5_600, abs=40)]
    assert list(clips.begins(3_000, len(sound))) == [pytest.approx(5_600, abs=40)]
    assert list(clips.begins(0, 3_000)) == begins[:1]
    assert list(clips.begins(0, 2_400)) == []
    assert clips.moves(0, 1)
    assert clips.level == 4
