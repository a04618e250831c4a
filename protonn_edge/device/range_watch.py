"""Notice when a sensor's values lie far outside those that the model was trained on."""

from __future__ import annotations

from collections.abc import Mapping

Range = tuple[int, int]

_TIMES = 3  # in a row, about a second each
_BEYOND = 1.0  # of the range in training


class RangeWatch:
    """Compares the ranges of channels with those in training.

    Values a little outside are clamped, and usually do no harm. Values further outside than the
    whole range is wide, for several seconds, are those of another sensor, of another measuring
    range, or of one that is mounted in another way.
    """

    def __init__(self) -> None:
        self._in_a_row: dict[str, int] = {}
        self._sentence: str | None = None
        self._taken = False

    def add(self, ranges: Mapping[str, tuple[Range, Range]]) -> None:
        """Add the range of each channel in training, and that of its latest samples, in counts.

        The least is above the largest if there were no samples.
        """
        found = []
        for name, ((low, high), (least, largest)) in ranges.items():
            beyond = max(low - least, largest - high)
            far = least <= largest and beyond > _BEYOND * max(1, high - low)
            self._in_a_row[name] = self._in_a_row.get(name, 0) + 1 if far else 0
            if self._in_a_row[name] >= _TIMES:
                values = f"{name} from {least:,} to {largest:,}"
                found.append(f"{values} (trained: {low:,} to {high:,})")
        if found and self._sentence is None:
            self._sentence = (
                f"counts are far outside the training data: {', '.join(found)}; check the sensor, "
                "its measuring range and how it is mounted, or train on such data, too"
            )

    def take_warning(self) -> str | None:
        """Return a sentence, once, after channels were far outside for several seconds."""
        if self._taken or self._sentence is None:
            return None
        self._taken = True
        return self._sentence
