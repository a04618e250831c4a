"""The options of 'predict' for a recording, on which it counts false alarms and missed events."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from protonn_edge.chain.model import Model
from protonn_edge.cli.command import Output, option, options_of
from protonn_edge.cli.options import FiniteRange
from protonn_edge.datasets import TableOptions
from protonn_edge.datasets.recorded import read_recording
from protonn_edge.evaluation.terminal import fact_table
from protonn_edge.sensors.live import live_figures
from protonn_edge.sensors.windowing import SAMPLES_LIMIT, VOTES_LIMIT


@dataclass(frozen=True)
class StreamOptions:
    """The options as they were given."""

    hop: int | None = option(
        "If DATA is a recording: samples from the start of one window to the start of the next.",
        click.IntRange(1, SAMPLES_LIMIT),
    )
    votes: int = option(
        "With --hop: report the majority class of this many windows.",
        click.IntRange(1, VOTES_LIMIT),
        shown=1,
    )
    refractory: float = option(
        "With --hop: after a report, report no other class for this many seconds.",
        FiniteRange(0, 3600),
        shown=0.0,
    )

    def classify(self, model: Model, data: Path, table: TableOptions, out: Output) -> None:
        """Print how often a model would answer while a recording is played."""
        assert self.hop is not None
        recorded = read_recording(data, table)
        live = live_figures(model, recorded, self.hop, self.votes, self.refractory)
        out.notice(recorded.dataset.notices)
        out.say(fact_table(live.facts()))
        out.finish(live.to_json())


STREAM_OPTIONS = options_of(StreamOptions)
