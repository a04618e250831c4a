"""``protonn-edge windows``: cut a recording into windows to train with."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from protonn_edge.cli.command import Command, FiniteRange, Output, json_option
from protonn_edge.cli.paths import WINDOWS, OutputFile
from protonn_edge.cli.tables import table_options
from protonn_edge.datasets import (
    Dataset,
    MultiLabelDataset,
    Notice,
    TableOptions,
    group_numbers,
    load_dataset,
)
from protonn_edge.datasets.dataset import dense_features
from protonn_edge.datasets.moments import moments_of
from protonn_edge.datasets.notices import listed
from protonn_edge.datasets.recordings import Windows, cut_windows, gaps
from protonn_edge.errors import InputError
from protonn_edge.report.terminal import fact_table
from protonn_edge.stages.window_features import check_window
from protonn_edge.system.files import write_atomically


@click.command("windows", cls=Command)
@click.argument("recording", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=OutputFile(WINDOWS), required=True, help="The data set (.npz)."
)
@click.option(
    "--window", type=click.IntRange(2), required=True, help="Samples of a channel in a window."
)
@click.option(
    "--stride",
    type=click.IntRange(1),
    help="Samples from one training window's begin to the next one's.  [default: a whole window]",
)
@click.option(
    "--test",
    "test_share",
    type=FiniteRange(0, 1, max_open=True),
    default=0.0,
    show_default=True,
    help="Share at the end of each run of equal labels that becomes test windows.",
)
@click.option(
    "--session",
    metavar="COLUMN",
    help="Which session, person or recording a row is from; no window spans two.  [default: a "
    "column called session, subject, person, user, ...]",
)
@table_options
@json_option
def windows_command(
    recording: Path,
    output: Path,
    window: int,
    stride: int | None,
    test_share: float,
    session: str | None,
    table: TableOptions,
    as_json: bool,
) -> None:
    """Cut RECORDING, a table with a sample of all channels a row, into windows of equal labels.

    RECORDING is what 'train' reads: a .csv with a column 'label', for example. Its rows are in the
    order of time. Columns of times and sessions are no channels: no window spans two sessions, or a
    gap in time. Sessions become the array 'groups' of the data set, for 'train --groups groups'.
    """
    if output.suffix != ".npz":
        raise InputError(f"the data set is called {output.name!r}; its name must end in .npz")
    out = Output(as_json)
    dataset = load_dataset(recording, replace(table, session=session))
    if isinstance(dataset, MultiLabelDataset):
        raise InputError(f"{recording} has sets of labels; give each sample one label")
    samples = dense_features(dataset.X_train, str(recording))
    channels = samples.shape[1]
    check_window(window, channels)
    seams, notices = _seams(dataset)
    cut = cut_windows(samples, dataset.y_train, window, stride, test_share, seams)
    counts = [np.bincount(y, minlength=dataset.n_classes) for y in (cut.y_train, cut.y_test)]
    content = io.BytesIO()
    arrays, missing = _arrays(cut, dataset)
    np.savez_compressed(content, allow_pickle=False, **arrays)
    write_atomically(output, content.getvalue())
    names = dataset.feature_names
    which = f": {', '.join(names)}" if names else ""
    facts = [
        ("windows", f"{len(cut.y_train):,} to train with, {len(cut.y_test):,} to test"),
        ("samples", f"{window:,} of {channels:,} channels each{which}"),
        ("classes", _counted(dataset.classes, *counts)),
    ]
    out.say(f"{output.name}:", fact_table(facts))
    out.notice([*dataset.notices, *notices, *missing])
    record: dict[str, Any] = {
        "window": window,
        "channels": channels,
        "channel_names": list(names),
        "n_train": len(cut.y_train),
        "n_test": len(cut.y_test),
        "classes": list(arrays["class_names"].tolist()),
        "n_of_class": dict(zip(dataset.classes, counts[0].tolist(), strict=True)),
        "groups": len(set(arrays["groups"].tolist())) if "groups" in arrays else None,
    }
    out.finish(record)


def _seams(dataset: Dataset) -> tuple[NDArray[np.bool_] | None, list[Notice]]:
    """Return at which rows another session or, after a gap in time, another recording begins."""
    n = dataset.X_train.shape[0]
    seams = np.zeros(n, dtype=np.bool_)
    notices = []
    if dataset.sessions is not None:
        sessions = group_numbers(list(dataset.sessions), n)
        seams[1:] |= np.diff(sessions) != 0
    if dataset.times is not None:
        times = moments_of(dataset.times)
        if times is None:
            text = "the times are in a notation that is not known, so gaps in time are not seen"
            notices.append(Notice("times", text, warning=True))
        else:
            apart = gaps(times)
            seams |= apart
            if apart.any():
                text = f"{int(apart.sum()):,} gaps in time, which no window spans"
                notices.append(Notice("gaps", text))
    return seams, notices


def _arrays(cut: Windows, dataset: Dataset) -> tuple[dict[str, Any], list[Notice]]:
    """Return what the file holds, and a warning if a class has no window to train with."""
    present = np.unique(cut.y_train)
    missing = [dataset.classes[index] for index in range(dataset.n_classes) if index not in present]
    number = np.full(dataset.n_classes, -1)
    number[present] = np.arange(len(present))
    arrays: dict[str, Any] = {
        "X_train": cut.X_train,
        "y_train": number[cut.y_train],
        "class_names": np.array(dataset.classes)[present],
    }
    tested = number[cut.y_test] >= 0
    if tested.any():
        arrays |= {"X_test": cut.X_test[tested], "y_test": number[cut.y_test][tested]}
    if dataset.feature_names:
        arrays["channel_names"] = np.array(dataset.feature_names)
    if dataset.sessions is not None:
        arrays["groups"] = np.array([dataset.sessions[row].strip() for row in cut.begins])
    if not missing:
        return arrays, []
    text = f"left out, as no run of them fills a window: {listed(missing)}"
    return arrays, [Notice("no_window", text, warning=True)]


def _counted(classes: tuple[str, ...], train: NDArray[np.int64], test: NDArray[np.int64]) -> str:
    """Return the windows of each class, those for training and, if there are any, for testing."""
    tested = [f" + {count:,}" if test.any() else "" for count in test]
    return ", ".join(
        f"{name} {count:,}{more}" for name, count, more in zip(classes, train, tested, strict=True)
    )
