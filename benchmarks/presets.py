"""The models that `accuracy.py` measures: data set, settings, and published results of others.

Sizes follow from a limit on the bytes of the parameters, and from the flash that the firmware
leaves. Everything else was chosen on points held out of the training data (of the watch, on wearers
held out whole; of the gestures, on what of each was recorded together), never on test points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rows import Row

from protonn_edge.data.dataset import Dataset

_DIGITS = {"image_shape": (28, 28)}
_DIGITS_8 = {**_DIGITS, "features": "crop:24x24,pool:8x8", "epochs": 60}
_DIGITS_12 = {**_DIGITS, "features": "crop:24x24,pool:12x12"}
_DESKEWED_12 = {
    **_DIGITS,
    "features": "deskew,crop:24x24,pool:12x12",
    "augment": True,
    "input_noise": 0.05,
    "gamma_numerator": 2.5,
    "init_projection": "nca",
}
_GRADIENTS = {
    **_DIGITS,
    "features": "crop:24x24,gradients:4x4",
    "augment": 0.5,
    "batch_size": 512,
}
_DESKEWED = {**_GRADIENTS, "features": "deskew,crop:24x24,gradients:4x4"}
_UPRIGHT = {**_DESKEWED, "input_noise": 0.25}
_GRADIENTS_2KB = {**_DESKEWED, "input_noise": 0.15, "projection_bits": 4}
_USPS = {"image_shape": (16, 16)}
_USPS_8 = {**_USPS, "features": "pool:8x8"}
_USPS_GRADIENTS = {**_USPS, "features": "deskew,gradients:4x4", "augment": True}


@dataclass(frozen=True)
class Preset(Row):
    """A row, and what it is compared with.

    Attributes
    ----------
    limit_bytes : int
        What the int8 parameters may take.
    paper : str
        Size and accuracy in % in the ProtoNN paper.
    halves : bool
        Whether the ten digits are two classes: 0-4 and 5-9.
    beside_svm : bool
        Whether scikit-learn's RBF-SVM is measured, too.
    """

    limit_bytes: int = 0
    paper: str = "-"
    halves: bool = False
    beside_svm: bool = False

    def dataset(self) -> Dataset | None:
        """Return the data set, or None where this machine does not have it."""
        dataset = super().dataset()
        return in_halves(dataset) if dataset is not None and self.halves else dataset


def in_halves(dataset: Dataset) -> Dataset:
    """Return ten classes as two: the first five and the last five."""
    return replace(
        dataset,
        y_train=dataset.y_train // 5,
        y_test=dataset.y_test // 5,
        classes=("0-4", "5-9"),
    )


def _preset(name: str, file: str, limit: int, d: int, m: int, **settings: Any) -> Preset:
    sizes = {"n_projections": d, "n_prototypes": m}
    about = {key: settings.pop(key) for key in ("paper", "halves", "beside_svm") if key in settings}
    return Preset(name, f"{file}.npz", sizes | settings, limit_bytes=limit, **about)


_USPS10 = "63.8 kB, 94.92"
_MNIST10 = "63.4 kB, 95.88"
_MNIST2 = "16.0 kB, 96.50"

PRESETS = [
    _preset("letter26", "letter26", 22_000, 16, 512, paper="63.4 kB, 97.10",
            init_projection="nca", input_noise=0.2),
    _preset("usps10", "usps10_libsvm", 16_000, 20, 300, paper=_USPS10, **_USPS, augment=True),
    _preset("usps10-small", "usps10_libsvm", 4_000, 10, 40, paper=_USPS10),
    _preset("usps10-2kB", "usps10_libsvm", 2_000, 12, 55, paper=_USPS10, **_USPS_8, augment=True),
    _preset("usps10-paper", "usps10_libsvm", 4_000, 10, 40, paper=_USPS10,
            optimizer="alternating", loss="squared_error"),
    _preset("usps2", "usps10_libsvm", 4_000, 12, 230, paper="11.6 kB, 95.67", halves=True,
            **_USPS_8, augment=True),
    _preset("mnist10", "mnist10", 28_500, 25, 540, paper=_MNIST10, **_DESKEWED_12, epochs=300),
    _preset("mnist10-16kB", "mnist10", 16_000, 25, 350, paper=_MNIST10, **_DESKEWED_12),
    _preset("mnist10-2kB", "mnist10", 2_000, 11, 60, paper=_MNIST10, **_DIGITS_8),
    _preset("mnist2", "mnist10", 4_000, 12, 160, paper=_MNIST2, halves=True, **_DIGITS_12,
            epochs=60),
    _preset("mnist2-2kB", "mnist10", 2_000, 12, 88, paper=_MNIST2, halves=True, **_DIGITS_8),
    _preset("mnist10-gradients", "mnist10", 13_000, 20, 340, paper=_MNIST10,
            **{**_UPRIGHT, "augment": 0.6}, epochs=80),
    _preset("mnist10-gradients-5kB", "mnist10", 5_200, 16, 120, paper=_MNIST10, **_UPRIGHT,
            epochs=60),
    _preset("mnist10-gradients-2kB", "mnist10", 2_000, 16, 37, paper=_MNIST10, **_GRADIENTS_2KB,
            epochs=60),
    _preset("mnist10-gradients-fast", "mnist10", 5_200, 16, 120, paper=_MNIST10,
            **_GRADIENTS, input_noise=0.25, epochs=60),
    _preset("mnist2-gradients-2kB", "mnist10", 2_000, 16, 54, paper=_MNIST2, halves=True,
            **_GRADIENTS_2KB, epochs=60),
    _preset("usps10-gradients", "usps10_libsvm", 5_200, 16, 90, paper=_USPS10,
            **_USPS_GRADIENTS, epochs=100, input_noise=0.25),
    _preset("usps10-gradients-2kB", "usps10_libsvm", 2_000, 16, 37, paper=_USPS10,
            **_USPS_GRADIENTS, epochs=120, input_noise=0.15, projection_bits=4),
    _preset("har", "har_hapt", 4_000, 10, 40, beside_svm=True),
    _preset("watch", "watch_exercise", 4_000, 20, 60, beside_svm=True, input_noise=0.6,
            gamma_numerator=0.4, clip=0.02),
    _preset("fsdd", "fsdd_mfcc", 4_000, 10, 40, beside_svm=True),
    _preset("gesturepod", "gesturepod_blocks", 4_000, 20, 50, beside_svm=True, input_noise=1.0,
            gamma_numerator=0.7, clip=0.02),
    _preset("ecg5000", "ecg5000", 4_000, 8, 20, beside_svm=True),
]  # fmt: skip
