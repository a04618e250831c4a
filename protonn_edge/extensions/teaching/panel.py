"""What a report shows of teaching: accuracies of people who teach a board, against examples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.ticker import MaxNLocator

from protonn_edge.extensions.teaching.people import TaughtPerson
from protonn_edge.report.content import (
    PageTable,
    Panel,
    Section,
    ShownFile,
    check_lengths,
    objects_of,
    record_in,
)
from protonn_edge.report.figures import dots, percent_axis
from protonn_edge.report.svg import ACCENT, MUTED, drawing
from protonn_edge.system.errors import counted
from protonn_edge.system.figures import percent, percents
from protonn_edge.system.schema import list_of, number, text, whole

_WRITTEN_BY = "'inspect --teach N --json'"
_TAUGHT = {"name": text(200), "n": whole(0, 10**9), "accuracies": list_of(number(0, 1), 255)}


def read_taught(path: Path, model_sha256: str) -> tuple[TaughtPerson, ...]:
    """Return the people of ``inspect --teach N --json`` for a model; `InputError` for others."""
    with record_in(path, _WRITTEN_BY, model_sha256) as record:
        people = objects_of(TaughtPerson, _TAUGHT, record["teaching"]["people"])
        check_lengths(*(person.accuracies for person in people))
        return people


FILE = ShownFile(
    "teaching", _WRITTEN_BY, lambda path, sha256: taught_section(read_taught(path, sha256))
)
"""How such a file is shown."""


def taught_section(people: Sequence[TaughtPerson]) -> Section:
    """Return the section about examples that people teach a board."""
    each = list(zip(*(person.accuracies for person in people), strict=True))
    mean, worst = [sum(one) / len(one) for one in each], list(map(min, each))
    counts = tuple(counted(count, "example") for count in range(len(mean)))
    lines = [(person.name, person.accuracies) for person in people]
    lines += [("mean", tuple(mean)), ("worst", tuple(worst))]
    rows = tuple((name, *(percent(one) for one in accuracies)) for name, accuracies in lines)
    caption = (
        f"With {counts[-1]} per class, the accuracy changes from "
        f"{percents(mean[0], mean[-1])} on average, and the lowest accuracy of any person from "
        f"{percents(worst[0], worst[-1])}."
    )
    table = PageTable("Each person", ("person", *counts), rows)
    panel = Panel.drawn(taught_figure(mean, worst), caption, table=table)
    lead = "What the board gains from its owner's examples; no example is among the tested points."
    return Section("taught", "Teaching", lead, (panel,))


def taught_figure(mean: Sequence[float], worst: Sequence[float]) -> str:
    """Return the accuracies, 0..1, after 0, 1, 2, ... examples, of people and the worst one."""
    with drawing(230) as (area, drawn):
        for who, accuracies, colour in (("mean", mean, ACCENT), ("worst", worst, MUTED)):
            counts = list(range(len(accuracies)))
            area.plot(counts, accuracies, color=colour)
            labels = (f"{who}, {counted(n, 'example')}: {percent(accuracies[n])}" for n in counts)
            dots(area, counts, accuracies, labels, colour, markersize=6)
        area.set_xlabel("taught examples per class (lower line: lowest accuracy of any person)")
        area.xaxis.set_major_locator(MaxNLocator(integer=True))
        area.set_ylim(top=min(area.get_ylim()[1], 1.01))  # room for a dot at 100 %
        percent_axis(area, 1)
    return drawn[0]
