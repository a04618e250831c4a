"""Weighted basis images: a student and its extension on an Arduino Uno, and the paper's figures.

*mnist10* trains a teacher, a student with 32 basis images and an extension of two layers of 20. The
others are experiments of the paper (H. Menon, "Weighted Basis Images", 2021) at this chip's scale:

- *images*: accuracy by the number of basis images, for student and teacher and for student and
  extension (figures 3 and 4), with images that are learned and with noise that is not (5.1.3);
- *spoken-images*: the same for spoken digits, 13 MFCC x 20 frames;
- *students*: other layers of the student (5.1.4);
- *similarity*: accuracy by epoch, with and without the similarity loss (figure 6);
- *parts*: several weights an image (figure 7);
- *pictures*: images beside their weighted sums (figure 8); only drawn.

They train on the first 4,000 points of MNIST, averaged to 14x14, with a teacher of their own.
Layers, passes and loss were not chosen by the test points, which the figures show.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from columns import Column, Record, figure, named, percent
from drawing import OTHERS, PROTONN, PROTONN_PAPER, by_step, curves, panels
from emulated import MEASURED, run_on_uno
from kind_rows import MNIST
from numpy.typing import NDArray
from runner import Benchmark
from trained import Row

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.extensions.research.kinds.basis_images.train.classifier import (
    BasisImagesClassifier,
    TaughtStudent,
    WantedImages,
    learned_student,
    learned_teacher,
)
from protonn_edge.extensions.research.kinds.basis_images.train.images import Teacher
from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.convolution.train.learning import NetworkSpec, OnEpoch
from protonn_edge.features.convolution.train.network import Network, innermost
from protonn_edge.kinds.dense.head import DenseHead
from protonn_edge.learn.features import FeatureData
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.quantization import quantize
from protonn_edge.system.rounding import one_thread

_POINTS = 4_000
_FOLLOWED = 2_000  # test points on which accuracy by epoch is measured
_POINTS_AT_ONCE = 1_000
_SHOWN = 8  # images, one below the other


@dataclass(frozen=True, eq=False)
class Task:
    """Points, and the settings of teacher, student and extension.

    `of` takes those of `BasisImagesClassifier`, and `teacher_moved_share`, the images that move
    while the teacher is trained.
    """

    dataset: Dataset
    settings: Mapping[str, Any]
    moved_share: float
    X: NDArray[np.float32]
    y: NDArray[np.int64]

    @classmethod
    def of(cls, dataset: Dataset, settings: Mapping[str, Any], points: int | None = None) -> Self:
        """Return the task on all training points, or the first ones."""
        own = {key: value for key, value in settings.items() if key != "teacher_moved_share"}
        X, y = dataset.X_train[:points], dataset.y_train[:points]
        moved = settings["teacher_moved_share"]
        return cls(dataset, own, moved, np.asarray(X, np.float32), np.asarray(y, np.int64))

    def wanted(self, **changed: Any) -> WantedImages:
        """Return the student and images of the settings, some of them changed."""
        classifier = BasisImagesClassifier(**{**self.settings, **changed})
        return classifier.frozen().wanted_images(FeatureData(self.X))

    @property
    def teacher_wanted(self) -> NetworkSpec:
        """The teacher."""
        layers, epochs = self.settings["teacher"], self.settings["teacher_epochs"]
        wanted: NetworkSpec = self.wanted(
            features=f"conv:{layers}", network_epochs=epochs, network_moved_share=self.moved_share
        ).student
        return wanted

    def teacher(self) -> Teacher:
        """Train the teacher."""
        with one_thread():
            return learned_teacher(self.teacher_wanted, self.X, self.y, None, seed=0)

    def student(
        self,
        teacher: Teacher,
        *,
        seed: int,
        learned: bool = True,
        callback: OnEpoch | None = None,
        **changed: Any,
    ) -> TaughtStudent:
        """Train a student and its images."""
        wanted = replace(self.wanted(**changed), learned=learned)
        with one_thread():
            return learned_student(
                wanted, teacher, self.X, self.y, None, seed=seed, callback=callback
            )

    def extension(self, taught: TaughtStudent) -> BasisImagesClassifier:
        """Train the extension."""
        settings = {**self.settings, "teacher": taught}
        classifier = BasisImagesClassifier(random_state=0, **settings)
        classifier.fit(self.X, self.y)
        return classifier

    def record(self, taught: TaughtStudent, extension: BasisImagesClassifier) -> Record:
        """Return what all of them have right of the test points, and how large they are."""
        X, y = np.asarray(self.dataset.X_test, np.float32), self.dataset.y_test
        model = extension.to_model()
        assert isinstance(model.head, DenseHead)
        integers = quantize(model)
        right = integers.predict(integers.quantize(X)) == y
        teacher = taught.head.teacher
        of_student = sum(
            layer.weights.size + layer.bias.size
            for layer in taught.layers
            if isinstance(layer, IntegerConvolution)
        )
        learned: list[NDArray[Any]] = [*model.head.weights, *model.head.biases]
        of_extension = sum(each.size for each in learned)
        return {
            "accuracy": float(np.mean(right)),
            "teacher_accuracy": _share(_teacher_predictions(teacher, self.teacher_wanted, X), y),
            "student_teacher_accuracy": _share(taught.predict(X), y),
            "parameters": int(of_student + of_extension),
            "teacher_parameters": teacher.n_parameters,
        }


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
_SMALL = {
    "image_shape": (28, 28),
    "teacher": "average2,12x3,max2,24x3,48x3",
    "teacher_epochs": 10,
    "teacher_moved_share": 0.5,
    "features": "conv:average2,6x3,max2,8x3",
    "network_epochs": 12,
    "network_moved_share": 0.5,
    "basis_images": 32,
    "similarity": 0.1,
    "epochs": 15,
}
_SPOKEN = {
    **_SMALL,
    "image_shape": (13, 20),
    "teacher": "16x3,max2,32x3,average",
    "teacher_epochs": 20,
    "teacher_moved_share": 0.0,
    "features": "conv:8x3,max2,12x3",
    "network_epochs": 20,
    "network_moved_share": 0.0,
    "epochs": 20,
}
_COUNTS = (2, 4, 8, 16, 32, 64)
_STUDENTS = {
    "small": "average2,4x3,max2,6x3",
    "plain": "average2,6x3,max2,8x3",
    "plain, then averages": "average2,6x3,max2,16x3,average",
    "deeper": "average2,6x3,8x3,max2,12x3",
    "depthwise": "average2,8x3,dw3,12x1,max2,dw3,16x1",
}
_PARTS = ((8, (1, 1)), (32, (1, 1)), (8, (2, 2)), (4, (1, 1)), (4, (3, 3)))
_KINDS_OF_IMAGES = ((True, "learned"), (False, "noise"))
CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "images": {
        f"{count}, {how}": {"learned": learned, "basis_images": count}
        for learned, how in _KINDS_OF_IMAGES
        for count in _COUNTS
    },
    "students": {name: {"features": f"conv:{layers}"} for name, layers in _STUDENTS.items()},
    "similarity": {f"similarity {each:g}": {"similarity": each} for each in (0.0, 0.1, 1.0)},
    "parts": {
        f"{count} x {parts[0]}x{parts[1]}": {"basis_images": count, "image_parts": parts}
        for count, parts in _PARTS
    },
    "pictures": {"32 images": {}},
}
CHANGES["spoken-images"] = CHANGES["images"]
"""What the models of each experiment change of its settings."""


def measure(row: Row, dataset: Dataset) -> Iterator[Record]:
    """Train a teacher, and yield the row of each student and extension."""
    task = Task.of(dataset, row.settings, _POINTS if row.file == MNIST else None)
    teacher = task.teacher()
    X, y = np.asarray(dataset.X_test, np.float32), dataset.y_test
    images = innermost(task.wanted().whole_student.to_bytes(X[:_FOLLOWED]))
    for name, changed in CHANGES[row.name].items():
        followed: list[float] = []

        def follow(_: int, __: float, network: Network, to: list[float] = followed) -> None:
            unit = 1 / 255 if network.unit == 1.0 else 1.0  # in floats first, then on integers
            scores = network.head.scores(network.features(images * np.float32(unit)))
            to.append(_share(scores.argmax(axis=1), y[:_FOLLOWED]))

        by_epoch = row.name == "similarity"
        taught = task.student(teacher, seed=0, callback=follow if by_epoch else None, **changed)
        settings = {**task.settings, **changed}
        yield {
            "experiment": row.name,
            "model": name,
            "features": settings["features"],
            "images": settings["basis_images"],
            "parts": settings.get("image_parts") or (1, 1),
            "how": dict(_KINDS_OF_IMAGES)[changed.get("learned", True)],
            "accuracies": followed,
            "drawn": _drawn(taught, X[:_SHOWN]) if row.name == "pictures" else [],
            **task.record(taught, task.extension(taught)),
        }


def _drawn(taught: TaughtStudent, some: NDArray[np.float32]) -> list[Any]:
    """Return images, their weighted sums and some basis images, each as rows of pixels."""
    images = taught.wanted.to_bytes(some).reshape(len(some), -1)
    shape = taught.head.teacher.shape
    every = images, taught.sums(some), taught.head.images[: len(some)]
    return [np.reshape(each, (-1, *shape)).tolist() for each in every]


def on_uno(row: Row, dataset: Dataset) -> Record:
    """Train teacher, student and extension, and run all test points on the Uno."""
    begin = time.perf_counter()
    task = Task.of(dataset, row.settings)
    taught = task.student(task.teacher(), seed=0)
    extension = task.extension(taught)
    record = run_on_uno(extension.to_model(classes=dataset.classes), dataset).record
    seconds = time.perf_counter() - begin
    return record | task.record(taught, extension) | {"model": row.name, "seconds": seconds}


def _share(answers: NDArray[Any], y: NDArray[Any]) -> float:
    return float(np.mean(answers == y))


def _teacher_predictions(
    teacher: Teacher, wanted: NetworkSpec, points: NDArray[Any]
) -> NDArray[np.int64]:
    """Return what a teacher takes raw points (n, H W) for, whose images are made as `wanted`'s."""
    parts = []
    for start in range(0, len(points), _POINTS_AT_ONCE):
        images = wanted.to_bytes(points[start : start + _POINTS_AT_ONCE]).astype(np.float32)
        images /= np.float32(BYTE_MAXIMUM)
        scores, _ = teacher.forward(images.reshape(len(images), -1))
        parts.append(scores.argmax(axis=1))
    return np.concatenate(parts)


# --- drawing --------------------------------------------------------------------------------------

_WEIGHTED, _CLASSIFIED = "student_teacher_accuracy", "accuracy"
_LABELS = {_WEIGHTED: "student + teacher", _CLASSIFIED: "student + extension"}
_COLOURS = {_WEIGHTED: OTHERS[0], _CLASSIFIED: PROTONN}


def draw(records: Sequence[Record], folder: Path) -> None:
    """Draw each experiment."""
    for name in dict.fromkeys(each["experiment"] for each in records):
        own = [each for each in records if each["experiment"] == name]
        path = folder / f"basis-images-{name}.svg"
        if name == "pictures":
            _draw_pictures(own[0]["drawn"], path)
            continue
        with panels(path, 1, 1, (5.5, 3.3)) as axes:
            axis = axes[0][0]
            axis.set_ylabel("test accuracy, %")
            if name == "similarity":
                by_step(axis, own, (OTHERS[0], PROTONN, OTHERS[5]), "epoch")
                continue
            {"students": _by_parameters, "parts": _bars}.get(name, _by_count)(axis, own)
            axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _by_count(axis: Any, records: Sequence[Record]) -> None:
    for key, colour in _COLOURS.items():
        for _, how in _KINDS_OF_IMAGES:
            lines = len(axis.lines)
            curves(axis, records, "images", key, "how", {how: colour})
            for line in axis.lines[lines:]:
                line.set(label=f"{_LABELS[key]}, {how}", linestyle="-" if how == "learned" else ":")
    axis.axhline(100 * records[0]["teacher_accuracy"], color=PROTONN_PAPER, label="teacher")
    axis.set_xscale("log", base=2)
    axis.set_xticks(_COUNTS, [str(count) for count in _COUNTS])
    axis.set_xlabel("basis images")


def _by_parameters(axis: Any, records: Sequence[Record]) -> None:
    for record, colour in zip(records, OTHERS, strict=False):
        for key, marker in ((_WEIGHTED, "o"), (_CLASSIFIED, "s")):
            axis.plot([record["parameters"]], [100 * record[key]], marker, color=colour, ms=5)
        axis.plot([], [], "s", color=colour, label=record["model"])
    axis.set_xlabel("parameters of student and extension")
    axis.set_title("round: with the teacher; square: with the extension", fontsize=8)


def _bars(axis: Any, records: Sequence[Record]) -> None:
    places = np.arange(len(records))
    for shift, (key, colour) in zip((-0.2, 0.2), _COLOURS.items(), strict=True):
        heights = [100 * each[key] for each in records]
        axis.bar(places + shift, heights, 0.4, color=colour, label=_LABELS[key])
    axis.set_xticks(places, [each["model"] for each in records])
    axis.set_ylim(np.floor(min(100 * each[key] for each in records for key in _LABELS)) - 1, 100)
    axis.set_xlabel("basis images x parts of each")


def _draw_pictures(images: Sequence[Any], path: Path) -> None:
    """Draw test images above their weighted sums, and some basis images below."""
    with panels(path, len(images), _SHOWN, (6.4, 2.6)) as axes:
        titles = ("images", "weighted\nsums", "basis\nimages")
        for row, title, of in zip(axes, titles, images, strict=True):
            for axis, image in zip(row, of, strict=False):
                axis.imshow(image, cmap="gray_r")
                axis.set_xticks([])
                axis.set_yticks([])
                axis.grid(visible=False)
            row[0].set_ylabel(title)


_ACCURACIES = (
    figure("teacher %", "teacher_accuracy", percent),
    figure("student + teacher %", "student_teacher_accuracy", percent),
    figure("student + extension %", "accuracy", percent),
    Column("parameters", lambda r: f"{r['parameters']:,} of {r['teacher_parameters']:,}"),
)
BENCHMARKS = {
    "basis_images": Benchmark(
        "A teacher, a student with 32 basis images and an extension, on the emulated Uno.",
        [Row("mnist10", MNIST, HEADLINE)],
        (
            *named("model"),
            *_ACCURACIES,
            figure("B", "model_bytes", ","),
            *MEASURED,
            figure("s", "seconds", ".0f"),
        ),
        on_uno,
    ),
    "basis_images_experiments": Benchmark(
        "The experiments of the paper about basis images.",
        [
            Row(name, *(("fsdd_mfcc.npz", _SPOKEN) if name == "spoken-images" else (MNIST, _SMALL)))
            for name in CHANGES
        ],
        (
            *named("experiment", "model", "features", "images"),
            Column("parts", lambda r: "x".join(map(str, r["parts"]))),
            *_ACCURACIES,
        ),
        measure,
        draw,
    ),
}
