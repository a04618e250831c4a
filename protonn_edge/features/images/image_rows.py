"""Stages that turn an image of byte channels into another one, and pass on its rows.

Each stage writes its output rows to where the next stage wants them, the last one to where its
values stay. The first stage owns the memory of all stages' rows and of these values, in which lines
that are not live at the same time share a place.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import islice, permutations
from math import prod
from typing import Self

from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Kernel
from protonn_edge.features.images.pixel_stage import DERIVED
from protonn_edge.model.feature_stage import FeatureStage
from protonn_edge.model.integer_stage import IntegerStage
from protonn_edge.model.point_format import PointFormat, check_points
from protonn_edge.model.shapes import ImageShape, image_text
from protonn_edge.model.statistics import InputStatistics
from protonn_edge.system.checks import check

MOST_IN_A_ROW = 255  # pixels or values of a row, counted in a byte
Margins = tuple[tuple[int, int], tuple[int, int]]
"""Rows above and below an image, and pixels to the left and right of it."""


@dataclass(frozen=True, eq=False)
class ImageStage(FeatureStage):
    """A layer of a network."""

    shape: ImageShape  # height, width and channels of the input image
    # whether a previous stage passes on whole rows of pixels
    by_rows: bool = field(default=False, kw_only=True, repr=False, metadata=DERIVED)
    # the layers after it; each takes the rows of its predecessor
    behind: tuple[ImageStage, ...] = field(default=(), kw_only=True, repr=False, metadata=DERIVED)

    def among(
        self, before: FeatureStage | PointFormat, behind: tuple[FeatureStage, ...], /
    ) -> Self:
        """Return the layer linked to the layers behind it; `InputError` if it does not fit."""
        by_rows = isinstance(before, ImageStage)
        given, most = self.shape, getattr(before, "maximum", None)
        if isinstance(before, PointFormat):
            height, width, channels = self.shape
            window = width == 1 < height
            shape = (height, width, channels) if channels > 1 else (height, width)
            check_points(
                before,
                self.kind,
                (height, channels) if window else shape,
                "window" if window else "image",
            )
            most = before.scale.maximum
        elif isinstance(before, ImageStage):
            given = before.output_shape
        own = self.shape, largest(self, "input_maximum")
        found, fits = (
            f"{image_text(of[0])} with values up to {of[1]}" for of in ((given, most), own)
        )
        check((given, most) == own, self.kind, found, fits)
        layers = tuple(each for each in behind if isinstance(each, ImageStage))
        return replace(self, by_rows=by_rows, behind=layers)

    def ranged(self, statistics: InputStatistics) -> InputStatistics:
        """Return the statistics of values, which a classifier takes unchanged."""
        return statistics.of_whole_numbers(largest(self, "maximum"))

    @property
    @abstractmethod
    def output_shape(self) -> ImageShape:
        """Height, width and channels of the output image."""

    @property
    def row_values(self) -> int:
        """Number of values in a row of the input image."""
        return prod(self.shape[1:])

    @property
    def output_values(self) -> int:
        """Number of values in a row of the output image."""
        return prod(self.output_shape[1:])

    @property
    def margins(self) -> Margins:
        """The padding on each side of the image."""
        return (0, 0), (0, 0)

    @property
    def reads_in_place(self) -> bool:
        """Whether its window reads a held image, without lines of its own."""
        return False

    @property
    @abstractmethod
    def lines(self) -> int:
        """Number of image rows that it needs at once."""

    @property
    def line_bytes(self) -> int:
        """SRAM of one of these rows, with its padding."""
        _, width, channels = self.shape
        return (width + sum(self.margins[1])) * channels

    @abstractmethod
    def completes_at(self, row: int) -> bool:
        """Return whether this row of the padded image completes a row of the output."""

    def writes_at(self, row: int) -> bool:
        """Return whether an output row is written when this row is taken."""
        return self.completes_at(row)

    @property
    def n_inputs(self) -> int:
        """Number of values of the input image."""
        return prod(self.shape)

    @property
    def n_outputs(self) -> int:
        """Number of values of the output image."""
        return prod(self.output_shape)


def largest(stage: IntegerStage, name: str) -> int:
    """Return the largest value of a layer, or of its inputs."""
    return int(getattr(stage, name))


POINTER_BYTES = 2
_MOST_ORDERS = 720  # all orders of six layers


@dataclass(frozen=True)
class RowMemory:
    """One array that all layers share."""

    size: int  # its bytes
    places: tuple[int, ...]  # where the lines of each layer begin, and the values of the last


@dataclass(frozen=True)
class LiveRange:
    """When the lines of a layer are in use; time is counted in rows taken by any layer."""

    size: int  # bytes of all of them
    # when one of them is first written, and when one is last read
    first: int
    last: int

    def overlaps(self, other: LiveRange) -> bool:
        """Return whether both are in use at the same time."""
        return self.first <= other.last and other.first <= self.last


def row_memory(layers: Sequence[ImageStage]) -> RowMemory:
    """Return the places of the layers' lines."""
    return _smallest(_Schedule(layers).live_ranges)


@lru_cache(maxsize=64)
def _smallest(ranges: tuple[LiveRange, ...]) -> RowMemory:
    """Return the smallest memory over orders of placing lines; the first order is by size."""
    by_size = sorted(range(len(ranges)), key=lambda number: -ranges[number].size)
    orders = islice(permutations(by_size), _MOST_ORDERS)
    return min((_placed(ranges, order) for order in orders), key=lambda memory: memory.size)


def _placed(ranges: Sequence[LiveRange], order: Sequence[int]) -> RowMemory:
    """Return the memory if lines are placed in this order, each as low as possible."""
    places: dict[int, int] = {}
    for number in order:
        live = ranges[number]
        taken = [
            (places[n], places[n] + ranges[n].size) for n in places if live.overlaps(ranges[n])
        ]
        places[number] = _lowest(live, taken)
    size = max(places[number] + live.size for number, live in enumerate(ranges))
    return RowMemory(size, tuple(places[number] for number in range(len(ranges))))


def _lowest(live: LiveRange, taken: Sequence[tuple[int, int]]) -> int:
    """Return the lowest place outside the taken ranges of bytes."""
    place = 0
    for begin, end in sorted(taken):
        if begin < place + live.size:
            place = max(place, end)
    return place


class _Schedule:
    """The order in which a prediction writes and takes rows."""

    def __init__(self, layers: Sequence[ImageStage]) -> None:
        self._layers = layers
        self._now = 0
        # rows of values; a last one may be begun for rows that no window completes
        self._begun = layers[-1].output_shape[0]
        self._taken = [*(layer.margins[0][0] for layer in layers), 0]
        self._times: list[list[int]] = [[] for _ in self._taken]
        for _ in range(layers[0].shape[0]):
            self._write(0)
            self._take(0)
        for number, layer in enumerate(layers):
            for _ in range(layer.margins[0][1]):
                self._take(number)
        self._times[-1].append(self._now)  # the next stage reads all values

    @property
    def _sizes(self) -> list[tuple[int, int]]:
        """The number of lines of each layer, and of rows of values, and the bytes of one."""
        lines = [(layer.lines, layer.line_bytes) for layer in self._layers]
        return [*lines, (self._begun, self._layers[-1].output_values)]

    @property
    def live_ranges(self) -> tuple[LiveRange, ...]:
        """The ranges of all layers; padded lines are always live, since their zeros must stay."""
        padded = [*(any(map(any, layer.margins)) for layer in self._layers), False]
        return tuple(
            LiveRange(lines * line_bytes, 0, self._now)
            if always
            else LiveRange(lines * line_bytes, times[0], times[-1])
            for (lines, line_bytes), always, times in zip(
                self._sizes, padded, self._times, strict=True
            )
        )

    def _write(self, number: int) -> None:
        """Write the row that a layer takes next to its line, or a row of values."""
        line = self._taken[number]
        if number == len(self._layers):
            self._begun = max(self._begun, line + 1)
        self._times[number].append(self._now)

    def _take(self, number: int) -> None:
        """Take a row, which may complete a row of the output."""
        self._now += 1
        layer, row = self._layers[number], self._taken[number]
        self._taken[number] += 1
        self._times[number].append(self._now)
        if layer.writes_at(row):
            self._write(number + 1)
        if not layer.completes_at(row):
            return
        if number + 1 < len(self._layers):
            self._take(number + 1)
        else:
            self._taken[-1] += 1


@dataclass(frozen=True)
class ImageRows:
    """Rows of a stage, passed on by the previous stage or taken by the stage itself."""

    stage: ImageStage

    @property
    def memory(self) -> RowMemory:
        """The memory of all rows."""
        return row_memory((self.stage, *self.stage.behind))

    @property
    def cycles(self) -> float:
        """The cycles of getting rows."""
        if self.stage.by_rows:
            return 0.0
        copied = 0 if self.stage.reads_in_place else self.stage.row_values
        return self.stage.shape[0] * (compiled.CALL_CYCLES + compiled.TURN_CYCLES * copied)

    @property
    def state(self) -> int:
        """SRAM of all stages' rows and values."""
        own = 0 if self.stage.behind else POINTER_BYTES
        return own if self.stage.by_rows else own + self.memory.size


@dataclass(frozen=True, eq=False)
class ImageKernel(Kernel):
    """A kernel of a layer."""

    stage: ImageStage

    @cached_property
    def rows(self) -> ImageRows:
        """The rows of the image."""
        return ImageRows(self.stage)
