"""The options of 'predict' for a recording, on which it counts false alarms and missed events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import click

from protonn_edge.cli.command import Output, option
from protonn_edge.data.options import TableOptions
from protonn_edge.extensions.sensing import SAMPLES_LIMIT
from protonn_edge.extensions.sensing.commands.votes import MARKS, VOTES, Mark, Votes, votes_of
from protonn_edge.model.model import Model
from protonn_edge.system.errors import unneeded
from protonn_edge.system.extensions import AddedOptions


@dataclass(frozen=True)
class StreamOptions(AddedOptions):
    """The options as they were given."""

    NEEDS: ClassVar[Mapping[str, str]] = {"--votes --mark": "--hop"}
    APART: ClassVar[Mapping[str, str]] = {"-o": "--hop"}

    hop: int | None = option(
        "If DATA is a recording: samples from the start of one window to the start of the next.",
        click.IntRange(1, SAMPLES_LIMIT),
    )
    votes: Votes | None = VOTES
    marks: tuple[Mark, ...] = MARKS

    def classified(self, model: Model, data: Path, table: TableOptions, out: Output) -> bool:
        """Print how often a model would answer while a recording is played, if it is asked for."""
        if self.hop is None:
            return False
        from protonn_edge.data.naming import channel_names
        from protonn_edge.extensions.sensing.live import live_figures
        from protonn_edge.extensions.sensing.recordings.recorded import read_recording
        from protonn_edge.learn.evaluation.terminal import fact_table
        from protonn_edge.model.features import signal_of
        from protonn_edge.policy.confidence.voting import marks_of

        if model.policy.predicts == "value":
            raise unneeded("--hop", "counts events, but the model predicts a number")
        signal = signal_of(model.features)
        rate = None if signal is None else signal.rate
        recorded = read_recording(data, replace(table, sample_rate=rate))
        if signal and channel_names(recorded.dataset.feature_names, signal.channels):
            raise unneeded("--hop", f"needs a recording, but each row of {data} is a window")
        marks = marks_of(self.marks, model.classes)
        live = live_figures(model, recorded, self.hop, *votes_of(self.votes), marks)
        of_data = (each for each in recorded.dataset.notices if each.kind != "rate" or not rate)
        out.notice([*of_data, *live.notices])
        out.say(fact_table(live.facts()))
        out.finish(live.to_json())
        return True
