"""What takes too long with sound is told what it can be trained with."""

from __future__ import annotations

from pathlib import Path

from avr_tools import needs_avr_gcc
from extensions.sound.audio_factory import audio_of, random_audio_model
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.project import BuildOptions, build
from protonn_edge.system.errors import CheckFailed


@needs_avr_gcc
def test_bands_are_what_takes_most_of_the_time_between_two_samples(tmp_path: Path) -> None:
    model = random_audio_model(audio_of(bands=16, frames=4, length=128))
    with refused_by("codegen.families.avr.checks", kind=CheckFailed, naming="fewer bands"):
        build(model, load_board("uno"), tmp_path / "slow", BuildOptions())
