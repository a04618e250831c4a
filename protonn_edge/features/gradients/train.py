"""Gradients requested as features: gradients:4x4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from protonn_edge.features.gradients.integers import DIRECTIONS, IntegerGradients
from protonn_edge.features.gradients.making import fitted_to, gradient_features
from protonn_edge.features.images.train import pixel_scale
from protonn_edge.learn import features
from protonn_edge.learn.parameters import FeatureParameters
from protonn_edge.model.features import Features
from protonn_edge.model.shapes import Shape, shape_text

_CELLS_SEARCHED = (4, 5, 3)  # numbers of cells per side


@dataclass(frozen=True, kw_only=True, eq=False)
class GradientRequest(features.ImageRequest):
    """Sums of gradients over `cells`, up to 8 rows and columns, in 4 or 8 `directions`."""

    kind: ClassVar[str] = IntegerGradients.kind
    word: ClassVar[str] = "gradients"
    form: ClassVar[str] = "gradients:4x4 or gradients:4x4/4"

    cells: Shape
    directions: int = 8

    @classmethod
    def read(cls, terms: Sequence[str], **image: Any) -> Self:
        """Read the request from its only term."""
        term = features.only_term(terms)
        cells, directions = features.sides_of(term, cls.form)
        if directions not in (None, *DIRECTIONS):
            raise features.unread(term, f"has {directions} directions, but must have 8 or 4")
        return cls(cells=cells, directions=directions or cls.directions, **image)

    @classmethod
    def alternatives(cls, shape: Shape) -> Iterator[tuple[str, Mapping[str, object]]]:
        """Yield a few numbers of cells per side that the image can have."""
        for n in _CELLS_SEARCHED:
            cells = (min(shape[0], n), min(shape[1], n))
            yield f"{cls.word}:{shape_text(cells)}", {"clip": 0.0}

    def stage_for(self, settings: FeatureParameters, given: features.FeatureData) -> Features:
        """Return sums of gradients."""
        pixels = pixel_scale(given)
        numbers = *self.shapes(settings), self.cells, self.directions
        made = gradient_features(*numbers, pixels, deskew=self.deskew)
        return fitted_to(given.points, made)
