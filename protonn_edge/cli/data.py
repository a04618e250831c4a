"""``protonn-edge data``: Examine a data file before you train on it."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

from protonn_edge.cli.command import OUTPUT, Output, argument, command, option
from protonn_edge.cli.options import PATH
from protonn_edge.cli.paths import REPORT, OutputFile
from protonn_edge.cli.tables import ALL_READING
from protonn_edge.data.checks.leaks import leaks
from protonn_edge.data.naming import Notice, channel_names, quoted
from protonn_edge.data.options import SHOWN, TableOptions
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.splits import about_drift, drift_of
from protonn_edge.data.reading import load_dataset
from protonn_edge.data.roles.groups import with_own_groups
from protonn_edge.learn.evaluation.terminal import fact_table, row_table
from protonn_edge.report.data_summary import (
    HEADINGS,
    DataSummary,
    FeatureSummary,
    profile,
    repetitions,
)
from protonn_edge.system.files import write_atomically
from protonn_edge.system.lazy import require
from protonn_edge.system.schema import JsonObject

_CLASSES_SHOWN = 20
_FEATURES_SHOWN = 10
_COLUMNS_SHOWN = 100


@command(
    "data",
    examples=(
        "train.csv --html train.html",
        "nuts.csv --label nut --delimiter semicolon",
    ),
)
def data_command(
    data: Path = argument(PATH, metavar="FILE"),
    html: Path | None = option(
        "Write an HTML page with plots of the data.", OutputFile(REPORT, dir_okay=False)
    ),
    table: TableOptions = ALL_READING,
    out: Output = OUTPUT,
) -> None:
    """Show the columns, labels, classes, ranges and likely mistakes of FILE.

    FILE is anything that 'train' accepts. Without --missing, 'data' lists empty cells and
    cells that are not numbers; 'train' refuses them. A model stores how its training data was read,
    so that other commands read data for the model in the same way.
    """
    if html is not None:
        require("matplotlib")
    dataset = load_dataset(data, replace(table, missing=table.missing or SHOWN), least_classes=1)
    profiles = [profile(each, dataset) for each in dataset.columns]
    summary, repeated = DataSummary.of(dataset), repetitions(dataset)
    rules = [] if dataset.layout is None else dataset.layout.rules.items()
    facts, notices = [*rules, *data_facts(summary, dataset)], [*dataset.notices, *leaks(dataset)]
    found = None if len(dataset.y_test) else drift_of(dataset)
    if found is not None and with_own_groups(dataset, data)[0].groups is None:
        notices.append(about_drift(dataset, found))
    if dataset.n_classes == 1 and dataset.label_facts is None:
        text = "there is only one class; add points of another class, or train with --one-class"
        notices.append(Notice("one_class", text, warning=True))
    out.say(f"{data.name}:", fact_table(facts))
    if profiles:
        more = len(profiles) - _COLUMNS_SHOWN
        # Short, and without control characters.
        rows = [[quoted(cell)[1:-1] for cell in each.cells] for each in profiles[:_COLUMNS_SHOWN]]
        rows += [[f"and {more:,} more"]] if more > 0 else []
        out.say(row_table(HEADINGS, rows, {0, 1, 2, 6}))
    if any(repeated.values()):
        out.say(sentence := _repetition_sentence(**repeated))
        notices.append(Notice("repeated", sentence, warning=True))
    out.notice(each for each in notices if each.kind != "repeated")  # which was printed
    if html is not None:
        from protonn_edge.report.data_page import render_data_page

        page = render_data_page(data.name, dataset, summary, profiles, notices, facts)
        write_atomically(html, page)
        out.say(f"wrote {html}, {len(page.encode()) / 1000:,.0f} kB")
    layout = None if dataset.layout is None else asdict(dataset.layout)
    record = summary.to_json()
    if {each.feature for each in dataset.columns} >= {*range(summary.n_features)}:
        del record["features"]  # each is a column
    columns = [asdict(each) for each in profiles]
    out.finish({"table": layout, "columns": columns, **record, "repeated": repeated})


class DataReport:
    """The lines about its data, and the notices, that a training command prints first."""

    def __init__(self, dataset: Dataset, out: Output) -> None:
        self._dataset = dataset
        self._summary = DataSummary.of(dataset)
        self._out = out
        self._said = False

    def say(self) -> None:
        """Print it, at the first call only."""
        if not self._said:
            self._said = True
            self._out.notice([*self._dataset.notices, *leaks(self._dataset)])
            self._out.say(fact_table(data_facts(self._summary, self._dataset)))

    def to_json(self) -> JsonObject:
        """Return classes, features and their range as a JSON object."""
        summary = self._summary
        return {
            "n_train": summary.n_train,
            "n_test": summary.n_test,
            "classes": {each.name: each.train for each in summary.classes},
            "features": summary.n_features,
            "range": [summary.minimum, summary.maximum],
        }


def data_facts(summary: DataSummary, dataset: Dataset) -> list[tuple[str, str]]:
    """Return rows with the number of points, the classes and the ranges."""
    tested = f" for training, {summary.n_test:,} for testing" if summary.n_test else ""
    shown = [
        f"{each.name}: {each.train:,}" + (f" + {each.test:,}" if summary.n_test else "")
        for each in summary.classes[:_CLASSES_SHOWN]
    ]
    more = ", ..." if len(summary.classes) > _CLASSES_SHOWN else ""
    of_classes = (f"{len(summary.classes):,} classes", ", ".join(shown) + more)
    return [
        ("points", f"{summary.n_train:,}{tested}"),
        dataset.label_facts or of_classes,
        *_feature_facts(summary, dataset),
    ]


def _feature_facts(summary: DataSummary, dataset: Dataset) -> list[tuple[str, str]]:
    count = f"{summary.n_features:,} feature{'s' if summary.n_features > 1 else ''}"
    if len(dataset.point_shape) > 1:
        names = channel_names(dataset.feature_names, dataset.point_shape[-1])
        which = f", channels {', '.join(names[:_FEATURES_SHOWN])}" if names else ""
        return [(count, f"{' x '.join(map(str, dataset.point_shape))}{which}: {_range(summary)}")]
    if not summary.features or len(summary.features) > _FEATURES_SHOWN:
        return [(count, _range(summary))]
    ranges = [
        f"{feature.name or index}: {_range(feature)}"
        for index, feature in enumerate(summary.features, start=1)
    ]
    return [(count, "\n".join(ranges))]


def _range(values: DataSummary | FeatureSummary) -> str:
    return f"{values.minimum:g} to {values.maximum:g}"


def _repetition_sentence(in_train: int, contradicting: int, in_test: int) -> str:
    sentence = f"duplicate training points: {in_train:,}"
    if contradicting:
        sentence += f", including {contradicting:,} with another label"
    if in_test:
        sentence += f"; test points that are also training points: {in_test:,}"
    return sentence
