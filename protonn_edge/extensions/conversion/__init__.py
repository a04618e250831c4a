"""Conversion of the reference implementation's models, estimators, trees and networks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from protonn_edge.system.extensions import Extension

if TYPE_CHECKING:
    from protonn_edge.data.points.dataset import Dataset
    from protonn_edge.model.model import Model

Features = Literal["raw", "normalized"]
"""The inputs of the reference implementation's W."""

Layout = Literal["text", "npy"]
"""The layout of its matrices in a folder: that of the C++ program or of the Python programs."""

LAYOUTS: tuple[Layout, ...] = get_args(Layout)
EPOCHS = 60
"""Epochs of training on an estimator's answers, where the conversion is not exact."""


class ConversionExtension(Extension):
    """The command `convert`."""

    name: ClassVar[str] = "conversion"

    def model_of_folder(self, dataset: Dataset, folder: Path, normalization: str) -> Model:
        """Return the model of the reference implementation's matrices."""
        from protonn_edge.extensions.conversion.protonn.reference import reference_model_for

        return reference_model_for(dataset, folder, normalization)


EXTENSION = ConversionExtension()
