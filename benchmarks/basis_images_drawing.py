"""The figures of `basis_images.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from printing import Record
from reproduction.drawing import OTHERS, PROTONN, PROTONN_PAPER, panels

from protonn_edge.extensions.research.kinds.basis_images.train.classifier import (
    TaughtStudent,
)

_SHOWN = 8  # images, one below the other
_WEIGHTED, _CLASSIFIED = "student_teacher_accuracy", "accuracy"
_LABELS = {_WEIGHTED: "student + teacher", _CLASSIFIED: "student + extension"}

Students = Sequence[TaughtStudent]
Raw = NDArray[np.float32]


def _by_count(records: Sequence[Record], _: Students, __: Raw, path: Path) -> None:
    with panels(path, 1, 1, (5.5, 3.4)) as axes:
        axis = axes[0][0]
        for learned, style in ((True, "-"), (False, ":")):
            rows = [each for each in records if each["learned"] == learned]
            for key, colour in ((_WEIGHTED, OTHERS[0]), (_CLASSIFIED, PROTONN)):
                axis.plot(
                    [each["images"] for each in rows],
                    [100 * each[key] for each in rows],
                    style,
                    marker="o",
                    markersize=3,
                    color=colour,
                    label=f"{_LABELS[key]}, {'learned' if learned else 'noise'}",
                )
        axis.axhline(100 * records[0]["teacher_accuracy"], color=PROTONN_PAPER, label="teacher")
        axis.set_xscale("log", base=2)
        counts = sorted({each["images"] for each in records})
        axis.set_xticks(counts, [str(count) for count in counts])
        axis.set_xlabel("basis images")
        axis.set_ylabel("test accuracy, %")
        axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _by_parameters(records: Sequence[Record], _: Students, __: Raw, path: Path) -> None:
    with panels(path, 1, 1, (5.5, 3.2)) as axes:
        axis = axes[0][0]
        for record, colour in zip(records, OTHERS, strict=False):
            for key, marker in ((_WEIGHTED, "o"), (_CLASSIFIED, "s")):
                x, y = record["parameters"], 100 * record[key]
                axis.plot([x], [y], marker, color=colour, markersize=5)
            axis.plot([], [], "s", color=colour, label=record["name"])
        axis.set_xlabel("parameters of student and extension")
        axis.set_ylabel("test accuracy, %")
        axis.set_title("round: with the teacher; square: with the extension", fontsize=8)
        axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _by_epoch(records: Sequence[Record], _: Students, __: Raw, path: Path) -> None:
    with panels(path, 1, 1, (5.5, 3.2)) as axes:
        axis = axes[0][0]
        for record, colour in zip(records, (OTHERS[0], PROTONN, OTHERS[5]), strict=False):
            accuracies = [100 * each for each in record["accuracies"]]
            epochs = range(1, len(accuracies) + 1)
            axis.plot(epochs, accuracies, color=colour, label=record["name"])
        axis.set_xlabel("epoch")
        axis.set_ylabel("student + teacher, %")
        axis.legend(fontsize=8, loc="lower right")


def _bars(records: Sequence[Record], _: Students, __: Raw, path: Path) -> None:
    with panels(path, 1, 1, (5.5, 3.2)) as axes:
        axis = axes[0][0]
        places = np.arange(len(records))
        for shift, (key, colour) in enumerate(((_WEIGHTED, OTHERS[0]), (_CLASSIFIED, PROTONN))):
            heights = [100 * each[key] for each in records]
            axis.bar(places + 0.4 * shift - 0.2, heights, 0.4, color=colour, label=_LABELS[key])
        axis.set_xticks(places, [each["name"] for each in records])
        lowest = min(100 * each[key] for each in records for key in _LABELS)
        axis.set_ylim(np.floor(lowest) - 1, 100)
        axis.set_xlabel("basis images x parts of each")
        axis.set_ylabel("test accuracy, %")
        axis.legend(fontsize=8, loc="upper left")


def _pictures(_: Sequence[Record], students: Students, X: Raw, path: Path) -> None:
    """Draw test images above their weighted sums, and some basis images below."""
    (taught,) = students
    some, head = X[:_SHOWN], taught.head
    images: list[NDArray[Any]] = [
        taught.wanted.to_bytes(some).reshape(_SHOWN, -1),
        taught.sums(some),
        head.images,
    ]
    with panels(path, len(images), _SHOWN, (6.4, 2.6)) as axes:
        titles = ("images", "weighted\nsums", "basis\nimages")
        for row, title, of in zip(axes, titles, images, strict=True):
            for axis, image in zip(row, of, strict=False):
                axis.imshow(image.reshape(head.teacher.shape), cmap="gray_r")
                axis.set_xticks([])
                axis.set_yticks([])
                axis.grid(visible=False)
            row[0].set_ylabel(title)


DRAWINGS: dict[str, Callable[[Sequence[Record], Students, Raw, Path], Any]] = {
    "images": _by_count,
    "spoken-images": _by_count,
    "students": _by_parameters,
    "similarity": _by_epoch,
    "parts": _bars,
    "pictures": _pictures,
}
