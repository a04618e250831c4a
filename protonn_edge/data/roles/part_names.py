"""Names of the parts of a data set: ``train``, ``Beats_TEST``, ``fold1``, and alike."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

_PART = re.compile(
    r"(?:^|(?<=[_\-. ]))"
    r"(?:(train(?:ing)?)|(test(?:ing)?)|(val(?:id(?:ation)?)?|dev|eval(?:uation)?)|"
    r"((?:folds?|split|cv)[ _-]?\d+))"
    r"[ _-]?(?:data|set|images|files|split)?(?=$|[_\-. ])",
    re.IGNORECASE,
)
TRAINING, TESTING, VALIDATION, FOLD = range(1, 5)  # the groups of this expression
_PARTS, _UNEQUAL = 3, 2  # parts of any size; the largest ratio of the sizes of folds


class PartName(NamedTuple):
    """The name of a part of a data set: its kind, and the rest of the name."""

    kind: int
    rest: str

    @classmethod
    def of(cls, name: str) -> Self | None:
        """Return the part that a name names, as ``Beats_TRAIN`` does; None if it names none."""
        found = [*_PART.finditer(name)]
        if len(found) != 1 or found[0].lastindex is None:
            return None
        sides = (name[: found[0].start()], name[found[0].end() :])
        return cls(found[0].lastindex, "_".join(filter(None, (s.strip("_-. ") for s in sides))))


def names_of_parts(names: Sequence[PartName | None]) -> TypeGuard[Sequence[PartName]]:
    """Whether names are those of parts: all of them, one for training, none a class of its own."""
    known = [each for each in names if each is not None]
    kinds = {each.kind for each in known}
    is_one = len(kinds) > 1 or len({each.rest.lower() for each in known}) == 1
    return len(known) == len(names) and not kinds.isdisjoint((TRAINING, FOLD)) and is_one


def are_parts(names: Iterable[str]) -> bool:
    """Whether names are those of the parts of a data set, such as ``train`` and ``test``."""
    return names_of_parts([PartName.of(name) for name in names])


def kind_for_testing(kinds: Collection[int]) -> int:
    """Return which kind of part is for testing: validation if there is no other; 0 for none."""
    return next((kind for kind in (TESTING, VALIDATION) if kind in kinds), 0)


def are_parts_or_folds(values: NDArray[np.float64]) -> bool:
    """Whether whole numbers (n,) may be those of parts: 0, 1, ... or 1, 2, ...

    Folds have nearly equal sizes; parts for training, validation and testing have any.
    """
    numbers, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    k = len(numbers)
    counts_up = k > 1 and numbers[0] in (0, 1) and numbers[-1] == numbers[0] + k - 1
    return bool(counts_up and (k <= _PARTS or counts.max() <= _UNEQUAL * counts.min()))
