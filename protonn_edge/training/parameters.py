"""Parameters of classifiers: each is declared once, as a field.

From its declaration follow scikit-learn's constraint, the command-line option or name for ``--set``
and its help. Ranges are wider than useful, but prevent float32 from overflowing and training from
taking years. Nothing here imports scikit-learn, so that help is printed at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, FrozenInstanceError, dataclass, field, replace
from typing import Any, ClassVar, Literal, Self


@dataclass(frozen=True)
class Number:
    """The numbers of a type from `low` to `high`, with those of its ends that are `closed`."""

    type: type[int | float]
    low: float
    high: float | None = None
    closed: Literal["both", "left", "right", "neither"] = "both"


class ByteCount(Number):
    """A number of bytes, at least one, which the command line accepts with a unit."""


@dataclass(frozen=True)
class Choices:
    """One of several words, or integers, which the command line shows in this order."""

    values: tuple[str, ...] | tuple[int, ...]


@dataclass(frozen=True)
class Subset:
    """One or more of several words, which the command line accepts separated by commas."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Sides:
    """Two integers."""

    names: str  # of both: "HxW"
    what: str  # what they are, with an example
    second: int | None = None  # the second one, if it may be omitted


COUNT = Number(int, 1, closed="left")
PASSES = Number(int, 1, 1_000_000)
TURNS = Number(int, 1, 1_000)
BYTES = ByteCount(int, 1, closed="left")
SHARE = Number(float, 0, 1, closed="right")
MULTIPLE = Number(float, 0, 100)
DEVIATION = Number(float, 0, 1e6)
AUTO = Choices(("auto",))
IMAGE_SHAPE = Sides("HxW", "a height and a width, such as 16x16")
WINDOW_SHAPE = Sides("NxC", "a number of samples and channels, such as 128x3", second=1)


@dataclass(frozen=True)
class Parameter:
    """What a parameter is, wherever it is one."""

    # what it may be: the classes above, types, None, and words of scikit-learn's constraints
    values: tuple[Any, ...]
    help: str = ""  # for the command line; empty if only Python has the parameter
    option: str = ""  # its option of `train`; without one, ``--set`` takes its name
    # whether ``train --help`` shows the option, not only that of its kind of classifier
    common: bool = False

    def __call__(self, default: Any) -> Any:
        """Return a dataclass field of it, with its default in a kind of classifier."""
        return field(default=default, metadata={_DECLARED: self})


_DECLARED = "parameter"


def parameter(default: Any, *values: Any, help: str = "", **shown: Any) -> Any:  # noqa: A002
    """Return the field of a parameter that is declared here; see `Parameter`."""
    return Parameter(values, help, **shown)(default)


# Parameters of several kinds of classifiers.
N_PROJECTIONS = Parameter((COUNT,), "d, outputs of the projection.", "--projection-dim", True)
SPARSITY_PROJECTION = Parameter((SHARE,), "Largest non-zero share of the projection.", "--lambda-w")
SIZE_BUDGET = Parameter(
    (BYTES, None), "Most bytes of weights or trees on the device, such as 2kB.", "--size-budget"
)
EPOCHS = Parameter((PASSES,), "Passes over the training points.", "--epochs", True)
BATCH_SIZE = Parameter((COUNT, AUTO), "Points per step.", "--batch-size")
LEARNING_RATE = Parameter((Number(float, 1e-9, 1e9),), "The largest step.", "--learning-rate")
INPUT_NOISE = Parameter(
    (DEVIATION, AUTO), "Deviation of noise added to normalized features.", "--noise"
)


@dataclass(kw_only=True, eq=False, repr=False)
class Parameterized:
    """Fields that are declared parameters, with those of all bases."""

    parameters: ClassVar[dict[str, Parameter]] = {}  # by name, a class's own first
    _frozen: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        found = {
            name: value.metadata[_DECLARED]
            for name, value in vars(cls).items()
            if isinstance(value, Field) and _DECLARED in value.metadata
        }
        for base in cls.__bases__:
            declared: Mapping[str, Parameter] = getattr(base, "parameters", {})
            found |= {name: each for name, each in declared.items() if name not in found}
        cls.parameters = found

    def frozen(self, **changed: Any) -> Self:
        """Return an immutable copy, some parameters of which are changed: settings of a training.

        Only what it does not have yet can be added to it, if that is a field.
        """
        copy = replace(self, **changed)
        object.__setattr__(copy, "_frozen", True)
        return copy

    def __setattr__(self, name: str, value: object) -> None:
        if self._frozen and (name in vars(self) or name not in self.__dataclass_fields__):
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super().__setattr__(name, value)
