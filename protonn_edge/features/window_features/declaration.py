"""The features of a channel as text: ``mean,deviation,crossings:2,bands:4``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from protonn_edge.errors import InputError

KINDS = ("mean", "deviation", "min", "max", "change", "crossings", "bands")
"""The kinds of features, in the order in which a channel has them."""

BAND_LIMIT = 8
HYSTERESIS_LIMIT = 127
_DEFAULT_BANDS = 4
_DEFAULT_HYSTERESIS = 1


@dataclass(frozen=True)
class FeatureSet:
    """The features of one channel.

    Attributes
    ----------
    kinds : tuple of str
        Some of `KINDS`, at least one, in their order there.
    bands : int
        Number of bands, 1..8; 0 where "bands" is not among the kinds.
    hysteresis : int
        Steps of a sample, 0..127, by which a signal must leave its level to count as above or below
        it; 0 where "crossings" is not among the kinds.

    Raises
    ------
    InputError
        If a kind is unknown or given twice, there is none, or a number is out of its range.
    """

    kinds: tuple[str, ...]
    bands: int = 0
    hysteresis: int = 0

    def __post_init__(self) -> None:
        for kind in self.kinds:
            if kind not in KINDS:
                raise InputError(
                    f"there is no feature {kind[:40]!r}; choose from {', '.join(KINDS)}"
                )
            if self.kinds.count(kind) > 1:
                raise InputError(f"the feature {kind!r} is given twice; give it once")
        if not self.kinds:
            raise InputError(f"there is no feature; choose some of {', '.join(KINDS)}")
        object.__setattr__(self, "kinds", tuple(kind for kind in KINDS if kind in self.kinds))
        for asked, value, low, high, what in (
            ("bands" in self.kinds, self.bands, 1, BAND_LIMIT, "number of bands"),
            ("crossings" in self.kinds, self.hysteresis, 0, HYSTERESIS_LIMIT, "hysteresis"),
        ):
            if asked and not low <= value <= high:
                raise InputError(f"the {what} is {value}; give {low} to {high}")
            if not asked and value != 0:
                raise InputError(f"the {what} is {value}, but nothing uses it; leave it out")

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a list such as ``mean,deviation,crossings:2,bands:4``.

        A number after ``bands`` is how many (4), one after ``crossings`` the hysteresis (1).
        """
        kinds: list[str] = []
        numbers: dict[str, int] = {}
        for part in text.split(","):
            found = re.fullmatch(r"\s*([a-z]+)\s*(?::\s*(\d{1,3})\s*)?", part)
            if found is None or (found[2] is not None and found[1] not in _NUMBERED):
                raise InputError(
                    f"{part.strip()[:40]!r} is no feature; give a list such as "
                    "mean,deviation,min,max,crossings,bands:4"
                )
            kinds.append(found[1])
            if found[1] in _NUMBERED:
                numbers[_NUMBERED[found[1]][0]] = int(found[2] or _NUMBERED[found[1]][1])
        return cls(tuple(kinds), **numbers)

    @property
    def text(self) -> str:
        """The features as text, with all numbers."""
        numbers = {"bands": f":{self.bands}", "crossings": f":{self.hysteresis}"}
        return ",".join(kind + numbers.get(kind, "") for kind in self.kinds)

    @property
    def names(self) -> tuple[str, ...]:
        """The features of a channel in their order: bands are ``band1``, the fastest, and so on."""
        plain = tuple(kind for kind in self.kinds if kind != "bands")
        return plain + tuple(f"band{level}" for level in range(1, self.bands + 1))


_NUMBERED = {
    "bands": ("bands", _DEFAULT_BANDS),
    "crossings": ("hysteresis", _DEFAULT_HYSTERESIS),
}
