"""Conversion of the reference implementation's models, estimators, trees and networks."""

from __future__ import annotations

from typing import ClassVar, Literal, get_args

from protonn_edge.system.extensions import Extension

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

    def addition_to(self, name: str) -> object:
        """Return the reader of the reference implementation's matrices."""
        if name != "start-from":
            return None
        from protonn_edge.extensions.conversion.protonn.reference import reference_model_for
        from protonn_edge.model.other_files import ForeignFolder

        return ForeignFolder(reference_model_for)


EXTENSION = ConversionExtension()
