"""Weighted basis images: a student and its extension on an Arduino Uno, and the paper's figures.

    python benchmarks/basis_images.py [--only NAME] [--pictures FOLDER] [--points N] [--json]

*mnist10* trains a teacher, a student with 32 basis images and an extension of two layers of 20, and
prints the accuracy of all of them on the test points, the points on which host C or the emulated
Uno differ from the NumPy model (none may), and what it takes on the Uno; with ``--points``, these
two are of the first test points alone.

The others are experiments of the paper (H. Menon, "Weighted Basis Images", 2021) at this chip's
scale; one row each, and one a model:

- *images*: accuracy by the number of basis images, for student and teacher and for student and
  extension (figures 3 and 4), with images that are learned and with noise that is not (5.1.3);
- *spoken-images*: the same for spoken digits, 13 MFCC x 20 frames;
- *students*: other layers of the student (5.1.4);
- *similarity*: accuracy by epoch, with and without the similarity loss (figure 6);
- *parts*: several weights an image (figure 7);
- *pictures*: images beside their weighted sums (figure 8); only drawn.

They train on the first 4,000 points of MNIST, averaged to 14x14, with a teacher of their own. With
``--pictures``, each is drawn into a folder as ``basis-images-NAME.svg``. Layers, passes and loss
were not chosen by the test points, which the figures show.

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from basis_images_drawing import DRAWINGS
from basis_images_experiments import EXPERIMENTS, Task
from on_uno import BYTES_COLUMN, CYCLES, TAKEN, run_on_uno
from printing import Columns, Record, print_table
from rows import Row, chosen

from protonn_edge.data.dataset import Dataset
from protonn_edge.system.errors import ProtoNNEdgeError

UNO = "mnist10"
MNIST, SPOKEN = Row(UNO, "mnist10.npz"), Row("spoken", "fsdd_mfcc.npz")
HEADLINE = {
    "image_shape": (28, 28),
    "teacher": "average2,16x3,20x3,max2,48x3,64x3",
    "teacher_epochs": 9,
    "teacher_moved_share": 0.7,
    "features": "conv:average2,8x3,12x3,max2,16x3,bits:4",
    "network_epochs": 18,
    "basis_images": 32,
    "similarity": 0.1,
    "epochs": 30,
}
ON_UNO: Columns = [
    ("model", lambda r: r["name"]),
    ("teacher %", lambda r: f"{100 * r['teacher_accuracy']:.2f}"),
    ("student + teacher %", lambda r: f"{100 * r['student_teacher_accuracy']:.2f}"),
    ("student + extension %", lambda r: f"{100 * r['accuracy']:.2f}"),
    ("parameters", lambda r: f"{r['parameters']:,} of {r['teacher_parameters']:,}"),
    ("points on the Uno", lambda r: f"{r['n']:,}"),
    ("mismatches", lambda r: f"{r['mismatches'] + r['lost']}"),
    BYTES_COLUMN,
    *CYCLES,
    *TAKEN,
]
OF_EXPERIMENTS: Columns = [
    ("experiment", lambda r: r["experiment"]),
    ("model", lambda r: r["name"]),
    ("student", lambda r: r["features"]),
    ("images", lambda r: f"{r['images']}"),
    ("parts", lambda r: "x".join(map(str, r["parts"]))),
    ("parameters", lambda r: f"{r['parameters']:,} of {r['teacher_parameters']:,}"),
    ("teacher %", lambda r: f"{100 * r['teacher_accuracy']:.2f}"),
    ("student + teacher %", lambda r: f"{100 * r['student_teacher_accuracy']:.2f}"),
    ("student + extension %", lambda r: f"{100 * r['accuracy']:.2f}"),
]


def measure_on_uno(dataset: Dataset, points: int | None) -> Record:
    """Train teacher, student and extension, and run test points on the Uno."""
    begin = time.perf_counter()
    task = Task.of(dataset, HEADLINE)
    taught = task.student(task.teacher(), seed=0)
    extension = task.extension(taught)
    record = task.record(taught, extension)
    some = replace(dataset, X_test=dataset.X_test[:points], y_test=dataset.y_test[:points])
    on_uno = run_on_uno(extension.to_model(classes=dataset.classes), some).record
    seconds = time.perf_counter() - begin
    return on_uno | record | {"name": UNO, "seconds": seconds}


def experiment(name: str, folder: Path | None) -> Iterator[Record]:
    """Yield the rows of an experiment, and draw them."""
    data = SPOKEN if name.startswith("spoken") else MNIST
    ((_, dataset),) = chosen([data], data.name)
    records: list[Record] = []
    drawn: list[Any] = []
    for record, found in EXPERIMENTS[name](dataset):
        records.append({"experiment": name, **record})
        drawn.append(found)
        yield records[-1]
    if folder is not None:
        X = np.asarray(dataset.X_test, np.float32)
        DRAWINGS[name](records, drawn, X, folder / f"basis-images-{name}.svg")


@click.command()
@click.option("--only", type=click.Choice([UNO, *EXPERIMENTS]), help="One row, or experiment.")
@click.option("--pictures", type=click.Path(path_type=Path), help="Where to draw the experiments.")
@click.option("--points", type=click.IntRange(1), help="Test points on the Uno; default all.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, pictures: Path | None, points: int | None, as_json: bool) -> None:
    """Print basis images on the Uno, and the paper's experiments."""
    if only in (None, UNO):
        rows = (measure_on_uno(dataset, points) for _, dataset in chosen([MNIST], only))
        print_table(rows, ON_UNO, as_json)
    for name in EXPERIMENTS:
        if only in (None, name):
            print_table(experiment(name, pictures), OF_EXPERIMENTS, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
