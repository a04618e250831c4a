"""``protonn-edge windows``: cut a recording into windows to train with."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import click
import numpy as np

from protonn_edge.cli.command import Command, FiniteRange, Output, json_option
from protonn_edge.cli.paths import WINDOWS, OutputFile
from protonn_edge.datasets import MultiLabelDataset, load_dataset
from protonn_edge.datasets.dataset import dense_features
from protonn_edge.errors import InputError
from protonn_edge.features import cut_windows
from protonn_edge.files import write_atomically
from protonn_edge.report.terminal import fact_table


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
@json_option
def windows_command(
    recording: Path,
    output: Path,
    window: int,
    stride: int | None,
    test_share: float,
    as_json: bool,
) -> None:
    """Cut RECORDING, a table with a sample of all channels a row, into windows of equal labels.

    RECORDING is what 'train' reads: a .csv with a column 'label', for example. Its rows are in the
    order of time.
    """
    if output.suffix != ".npz":
        raise InputError(f"the data set is called {output.name!r}; its name must end in .npz")
    out = Output(as_json)
    dataset = load_dataset(recording)
    if isinstance(dataset, MultiLabelDataset):
        raise InputError(f"{recording} has sets of labels; give each sample one label")
    samples = dense_features(dataset.X_train, str(recording))
    cut = cut_windows(samples, dataset.y_train, window, stride, test_share)
    content = io.BytesIO()
    arrays: dict[str, Any] = {"X_train": cut.X_train, "y_train": cut.y_train}
    if len(cut.y_test):
        arrays |= {"X_test": cut.X_test, "y_test": cut.y_test}
    np.savez_compressed(
        content, allow_pickle=False, class_names=np.array(dataset.classes), **arrays
    )
    write_atomically(output, content.getvalue())
    record: dict[str, Any] = {
        "window": window,
        "channels": int(samples.shape[1]),
        "n_train": len(cut.y_train),
        "n_test": len(cut.y_test),
        "classes": list(dataset.classes),
    }
    facts = [
        ("windows", f"{len(cut.y_train):,} to train with, {len(cut.y_test):,} to test"),
        ("samples", f"{window:,} of {samples.shape[1]:,} channels each"),
    ]
    out.say(f"{output.name}:", fact_table(facts))
    out.finish(record)
