"""Conversion of the reference implementation's models, estimators, trees and networks."""

from typing import ClassVar, Literal, get_args

from protonn_edge.system.extensions import Extension

Features = Literal["raw", "normalized"]
"""The inputs of the reference implementation's W."""

Layout = Literal["text", "npy"]
"""The layout of its matrices in a folder: that of the C++ program or of the Python programs."""

LAYOUTS: tuple[Layout, ...] = get_args(Layout)
EPOCHS = 60
"""Epochs of training on an estimator's answers, where the conversion is not exact."""


class Conversion(Extension):
    """The command `convert`."""

    name: ClassVar[str] = "conversion"


EXTENSION = Conversion()
