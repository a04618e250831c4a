"""Sums of gradients by direction as features ask for them: "gradients:4x4", "gradients:4x4/4"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from protonn_edge.chain.feature_stage import FeatureStage, Shape
from protonn_edge.features.gradients.gradients import DIRECTIONS, Gradients
from protonn_edge.features.images.cropped_image import shape_text
from protonn_edge.training.features import ImageRequest, only_term, pixel_scale, sides_of, unread
from protonn_edge.training.parameters import FeatureParameters
from protonn_edge.training.points import Float32
from protonn_edge.training.refusals import (
    IN_BLOCKS,
    SPARSE,
    Refusal,
    but,
    models_all_at_once,
    unclipped,
)

_CELLS_SEARCHED = (4, 5, 3)  # along each side

_SUMMED = Refusal(lambda case: Gradients.kind in case.kinds, "gradients are summed")


@dataclass(frozen=True, kw_only=True, eq=False)
class GradientRequest(ImageRequest):
    """Sums of gradients over `cells`, up to 8 rows and columns, by so many `directions`."""

    kind: ClassVar[str] = Gradients.kind
    word: ClassVar[str] = "gradients"
    form: ClassVar[str] = "gradients:4x4 or gradients:4x4/4"
    refusals: ClassVar[tuple[Refusal, ...]] = (
        models_all_at_once(Gradients.kind, "gradients"),
        *but(
            lambda case: Gradients.kind in case.kinds,
            "gradients are to be summed, but <but>; leave {features} out",
            SPARSE,
            IN_BLOCKS,
        ),
        *unclipped(_SUMMED, why=", which become bytes alike"),
    )

    cells: Shape
    directions: int = 8

    @classmethod
    def read(cls, terms: Sequence[str], **image: Any) -> Self:
        """Return what the only term asks for."""
        term = only_term(terms)
        cells, directions = sides_of(term, cls.form)
        if directions not in (None, *DIRECTIONS):
            raise unread(term, f"has {directions} directions, but there are 8 or 4")
        return cls(cells=cells, directions=directions or cls.directions, **image)

    @classmethod
    def alternatives(cls, shape: Shape) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield a few cells a side, and no more than there are pixels."""
        for n in _CELLS_SEARCHED:
            cells = (min(shape[0], n), min(shape[1], n))
            yield f"{cls.word}:{shape_text(cells)}", {"clip": 0.0}

    def stage_for(
        self, settings: FeatureParameters, points: Float32, weights: Float32 | None
    ) -> FeatureStage:
        """Return sums of gradients."""
        pixels = pixel_scale(points, weights)
        stage = Gradients(*self.shapes(settings), self.cells, self.directions, pixels, self.deskew)
        return stage.fitted(points)
