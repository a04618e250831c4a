"""Stages that read an image of pixels: of raw points, or of the rows that another one passes on."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from protonn_edge.features.images.cropped_image import CroppedImage
from protonn_edge.model.feature_stage import FeatureStage
from protonn_edge.model.point_format import Form, PointFormat, check_points
from protonn_edge.model.shapes import shape_text
from protonn_edge.system.checks import check

DERIVED = {"stored": False}
"""The metadata of fields of a stage that follow from the stages around it."""


class PixelStage(FeatureStage):
    """A stage that reads the crop of an image."""

    passes_rows: ClassVar[bool] = False  # whether it passes on the rows of the crop one by one

    @property
    @abstractmethod
    def source(self) -> CroppedImage:
        """The image, and its crop."""


@dataclass(frozen=True, eq=False)
class RowReader(PixelStage):
    """A stage that reads raw pixels, or whole rows of another stage."""

    # whether the previous stage passes whole rows of pixels
    by_rows: bool = field(default=False, kw_only=True, repr=False, metadata=DERIVED)
    forms: ClassVar[tuple[Form, ...]] = ("image",)  # of raw points that it reads

    def among(self, before: FeatureStage | PointFormat, _: tuple[FeatureStage, ...], /) -> Self:
        """Return the stage for the pixels, or the rows, that it receives."""
        by_rows = isinstance(before, PixelStage) and before.passes_rows
        if isinstance(before, PixelStage) and by_rows:
            given, source = before.source.cropped_shape, self.source
            fits = given == source.image_shape == source.cropped_shape
            check(fits, self.kind, f"rows of {shape_text(given)} pixels", "rows of its whole image")
        else:
            check_points(before, self.kind, self.source.image_shape, *self.forms)
        return self if self.by_rows == by_rows else replace(self, by_rows=by_rows)
