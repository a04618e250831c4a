"""Parameters of classifiers: each is declared once, as a field.

The declaration determines scikit-learn's constraint, the command-line option, and the help. Ranges
are wider than useful, but prevent float32 from overflowing and training from taking years. Nothing
here imports scikit-learn, so that help is printed at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, FrozenInstanceError, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.limits import NORMALIZER_KINDS, SAMPLE_RATES
from protonn_edge.model.shapes import Shape
from protonn_edge.system.errors import InputError, InvalidValue
from protonn_edge.system.wording import KEYWORDS, READERS, plain_value

if TYPE_CHECKING:
    from protonn_edge.learn.features import FeatureData, FeatureRequest
    from protonn_edge.learn.given_points import ClassWeight
    from protonn_edge.learn.network_head import NetworkHead
    from protonn_edge.learn.points import Move, Points
    from protonn_edge.learn.progress import Callback
    from protonn_edge.learn.targets import Target
    from protonn_edge.learn.training_request import TrainingRequest
    from protonn_edge.model.features import Features
    from protonn_edge.model.model import Model


@dataclass(frozen=True)
class Number:
    """The numbers of a type from `low` to `high`, including its `closed` ends."""

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

    names: str  # names of both, "HxW"
    what: str  # a description, with an example
    second: int | None = None  # default of the second one, None if it is required


COUNT = Number(int, 1, 2**31 - 1)
PASSES = Number(int, 1, 1_000_000)
TURNS = Number(int, 1, 1_000)
BYTES = ByteCount(int, 1, closed="left")
SHARE = Number(float, 0, 1, closed="right")
MULTIPLE = Number(float, 0, 100)
DEVIATION = Number(float, 0, 1e6)
AUTO = Choices(("auto",))
MODEL, FEATURES = "model", "features"  # a `Model`, and its `Features`
IMAGE_SHAPE = Sides("HxW", "a height and a width, such as 16x16")
WINDOW_SHAPE = Sides("NxC", "a number of samples and channels, such as 128x3", second=1)


@dataclass(frozen=True)
class Parameter:
    """The declaration of a parameter, for Python, the command line and searches."""

    # its constraints: the classes and words above, types, None, and scikit-learn's words
    values: tuple[Any, ...]
    help: str = ""  # for the command line; empty if only Python has the parameter
    option: str = ""  # its option of `train`, if that is not called after its name
    # whether ``train --help`` shows the option, not only the help of its kind of classifier
    common: bool = False
    # what uses it alone, if not every training: "classes" or "devices", or settings, such as
    # "ensemble=random|extra"; several are separated by blanks
    only: str = ""

    def __call__(self, default: Any) -> Any:
        """Return a dataclass field of it, with its default in a kind of classifier."""
        return field(default=default, metadata={_DECLARED: self})


_DECLARED = "parameter"


def parameter(default: Any, *values: Any, help: str = "", **shown: Any) -> Any:  # noqa: A002
    """Return the field of a parameter that is declared here; see `Parameter`."""
    return Parameter(values, help, **shown)(default)


# Parameters of several kinds of classifiers.
N_PROJECTIONS = Parameter(
    (COUNT,), "d, the number of outputs of the projection.", "--projection-dim", True
)
SPARSITY_PROJECTION = Parameter(
    (SHARE,), "Maximum share of nonzero weights in the projection.", "--lambda-w"
)
SIZE_BUDGET = Parameter(
    (BYTES, None),
    "Maximum size of the trees as a table (as instructions, they are larger), or of the weights "
    "that pruning leaves, such as 2kB.",
    "--size-budget",
)
EPOCHS = Parameter(
    (PASSES,), "Passes over the training points, each of at most 200 steps.", "--epochs", True
)
BATCH_SIZE = Parameter((COUNT, AUTO), "Training points per step.", "--batch-size")
LEARNING_RATE = Parameter((Number(float, 1e-9, 1e9),), "The largest step size.", "--learning-rate")
CLIP = Parameter(
    (Number(float, 0, 0.5, "left"), AUTO),
    "Share of points at either end of a feature's range that are clamped as outliers; auto "
    "chooses it by held-out training points where most values share few steps.",
    "--clip",
)
INPUT_NOISE = Parameter(
    (DEVIATION, AUTO), "Standard deviation of noise to add to normalized features.", "--noise"
)
AUGMENT = Parameter(
    ("boolean", SHARE),
    "Shift, rotate, scale and distort images slightly, or move the features of sounds.",
    "--augment/--no-augment",
    True,
)


@dataclass(kw_only=True, eq=False, repr=False)
class Parameterized:
    """Fields that are declared parameters, the bases' included."""

    parameters: ClassVar[dict[str, Parameter]] = {}  # by name, a class's own first
    _frozen: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        parameters = {
            name: value.metadata[_DECLARED]
            for name, value in vars(cls).items()
            if isinstance(value, Field) and _DECLARED in value.metadata
        }
        for base in cls.__bases__:
            declared: Mapping[str, Parameter] = getattr(base, "parameters", {})
            parameters |= {name: each for name, each in declared.items() if name not in parameters}
        cls.parameters = parameters
        shown = {name: each for name, each in parameters.items() if each.help}
        for name, each in shown.items():
            flag = each.option.partition("/")[0].removeprefix("--") or name.replace("_", "-")
            KEYWORDS[flag], READERS[name] = name, plain_value

    def frozen(self, **changed: Any) -> Self:
        """Return an immutable copy with some parameters changed: settings of a training.

        Only fields that it does not have yet can be added to it.
        """
        copy = replace(self, **changed)
        object.__setattr__(copy, "_frozen", True)
        return copy

    @classmethod
    def default_of(cls, name: str) -> Any:
        """Return the default of a parameter in this kind of classifier; None without one."""
        return getattr(cls, name, None)

    def __setattr__(self, name: str, value: object) -> None:
        if self._frozen and (name in vars(self) or name not in self.__dataclass_fields__):
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super().__setattr__(name, value)


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureParameters(Parameterized):
    """The features computed from a point before the classifier, also on the device.

    Parameters
    ----------
    features : str or Features, default=None
        Features to compute, as terms separated by commas; the model then has one input for each.
        For images, ``"pool:4x4"`` averages areas, and ``"gradients:4x4"`` sums gradients over cells
        in 8 directions (``"gradients:4x4/4"``: in 4 directions, which do not distinguish light from
        dark). ``"deskew"`` and ``"crop:20x20"``, which uses only the central part, may precede
        either. ``"conv:average2,5x3,8x3,max2"`` first learns the layers of a small network, see
        `protonn_edge.features.convolution.train.notation`; ``"bits:4/8"`` after them sets the bits
        of weights (8, 4 or 2) and of values (8 or 4). For windows of samples, use some of
        ``"mean,deviation,min,max,change,crossings,bands:6"``, averages of each channel
        (``"pool:16x3"`` of 3 channels), all ``"samples"``, counts of learned kernels
        (``"kernels:96"``), or ``"auto"``, which finds the best of such lists by cross-validation of
        the training points. For clips of sound, ``"audio:12x20"`` computes the energies of 12 bands
        in 20 frames. Alternatively, the `features` of another model, which is used unchanged.
    image_shape : tuple of two int, default=None
        Height and width of an image, if the features are its pixels, row by row; a signal is an
        image of height 1.
    window_shape : tuple of two int, default=None
        Samples per channel in a window, and number of channels; None means one channel.
    sample_rate : float, default=None
        Samples per second of each channel, which the model stores for sketches; for sound, None
        means 8,000.
    copies : int in [0, 100], default=0
        Additional copies of each training point (an image, a window or a clip) to train with, each
        moved at random; see `protonn_edge.learn.augmentation`.
    background_noise : array of shape (k, n_features), default=None
        Windows or clips of noise, in the unit of the points. Each copy is mixed with one of them,
        starting at a random place and with a random gain of up to 1.
    network_epochs : int, default=30
        Passes over the images to learn layers, the last 40 % of them in integers. During these
        passes the network ends with a ProtoNN of the requested size, or otherwise with weighted
        sums; the classifier is then trained on the last layer's bytes.
    network_moved_share : float in [0, 1], default=0.5
        Share of the images that are moved at random in each of these passes; see
        `protonn_edge.learn.augmentation`.
    network_still_epochs : int, default=0
        Number of final passes in which no image is moved.
    network_callback : callable, default=None
        Called with an `EpochReport` after each of these passes and each pass of a teacher: epoch,
        epochs, objective, and the name of the network. If it raises `TrainingStopped`, the layers
        of the last pass are used, and a linear classifier uses the head with which they were
        trained.
    """

    features: str | Features | None = parameter(
        None,
        str,
        FEATURES,
        None,
        help="Features for the device to compute: for images pool:4x4, gradients:4x4 or "
        "conv:8x3,max2, optionally after deskew or crop:20x20; for windows a list such as "
        "mean,max,bands:4, kernels:96, or auto, the default; for sound audio:12x20; or a .npz "
        "model, to use its features.",
        option="--features",
        common=True,
    )
    image_shape: Shape | None = parameter(
        None,
        IMAGE_SHAPE,
        None,
        help="Height and width of the images.",
        option="--image-shape",
        common=True,
    )
    window_shape: Shape | None = parameter(
        None,
        WINDOW_SHAPE,
        None,
        help="Samples and channels of a window, such as 128x3.",
        option="--window",
        common=True,
    )
    sample_rate: float | None = parameter(
        None,
        Number(float, *SAMPLE_RATES),
        None,
        help="Sampling rate in Hz, for generated sketches.",
    )
    copies: int = parameter(
        0,
        Number(int, 0, 100),
        help="Additional, randomly moved copies of each image, window or clip for training.",
        option="--copies",
    )
    background_noise: NDArray[np.float32] | None = parameter(None, "array-like", None)
    network_epochs: int = parameter(
        30, PASSES, help="Passes over the images for learning convolutions."
    )
    network_moved_share: float = parameter(
        0.5, Number(float, 0, 1), help="Share of the images to move at random in each pass."
    )
    network_still_epochs: int = parameter(
        0, Number(int, 0, 1_000_000), help="Number of final passes over unmoved images."
    )
    network_callback: Callable[[Any], object] | None = parameter(None, callable, None)

    @property
    def asked(self) -> FeatureRequest | None:
        """The request in the text, if any; raises `InputError` if it cannot be read."""
        if self.features is None:
            return None
        from protonn_edge.learn.requests import read_features  # imports all kinds of features

        request: FeatureRequest = read_features(self.features)
        return request

    def features_for(self, given: FeatureData) -> Features | None:
        """Return the requested stage, or None; its scales are chosen by the ranges of the points.

        If the stage has weights, they are learned from the classes; without these, they are random.
        Raises `InputError` if the parameters do not fit the points.
        """
        asked = self.asked
        try:
            return None if asked is None else asked.stage_for(self, given)
        except InvalidValue as error:
            raise InputError(
                f"the features {self.features} do not fit the points ({error.place}: "
                f"{error.reason}); " + (error.remedy or "choose other features or sizes")
            ) from error

    def keep_head(self, head: NetworkHead) -> None:
        """Keep the head of a network that was learned, whose layers are the features."""


@dataclass(kw_only=True, eq=False, repr=False)
class SharedParameters(FeatureParameters):
    """The parameters of every classifier, besides those of features.

    Parameters
    ----------
    normalization : {"standard", "none", "l2"}, default="standard"
        Affine map of each feature, which is part of the model: zero mean and unit deviation (with a
        floor, see `protonn_edge.learn.normalization`), or nothing. "l2" scales points to unit
        norm, as the paper does for sets of labels; devices do not support it.
    clip : float in [0, 0.5) or "auto", default=0.0
        Share of the training points at either end of each feature's range that are treated as
        outliers: their values are clamped to the range of the others, in training and on the
        device. Use this for sensors with spikes, which would otherwise determine the scale of a
        feature. "auto" begins with 0 and takes a larger one of 0.001, 0.003, 0.01, 0.03 and 0.1 if
        it is better on held-out training points, significantly and by at least 2 percentage
        points. It is 0 unless the middle 90 % of a feature's values share fewer than 64 of 255
        steps.
    class_weight : dict, "balanced" or None, default=None
        Weight of the points of a class, by its label; "balanced" weights a class by the inverse of
        its size.
    random_state : int, RandomState instance or None, default=None
        The same int gives the same model on the same machine with the same libraries.
    callback : callable, default=None
        Called with an `EpochReport` after every epoch: epoch, epochs, objective, accuracy, test
        accuracy if `fit` was given points. If it raises `TrainingStopped`, of
        `protonn_edge.learn.progress`, `fit` ends with the best epoch so far.
    """

    normalization: str = parameter(
        "standard",
        Choices(NORMALIZER_KINDS),
        help="Normalization of the features; takes no time on devices, but they do not support l2.",
    )
    clip: float | str = CLIP(0.0)
    class_weight: ClassWeight = parameter(
        None,
        dict,
        Choices(("balanced",)),
        None,
        help="Give every class the same weight.",
    )
    random_state: int | np.random.RandomState | None = parameter(None, "random_state")
    callback: Callback | None = parameter(None, callable, None)

    # Parameters of some kinds that the preparation of points reads, with their values for others.
    augment: bool | float = field(init=False, default=False)
    group_shift: float = field(init=False, default=0.0)
    strangers: float = field(init=False, default=0.0)
    takes: ClassVar[frozenset[str]] = frozenset({"class"})  # answers that it learns to give
    # answers for which `train` tries it beside the default kind
    tried_for: ClassVar[frozenset[str]] = frozenset()
    # of a normalized feature, so that its sums and squares fit float32
    largest_normalized: ClassVar[float] = 1e12
    initial_model: Model | None = field(init=False, default=None)

    @property
    def target(self) -> Target:
        """The target of the training."""
        from protonn_edge.learn.targets import Target

        target: Target = Target()
        return target

    def move_of_groups(self, _points: Points, /) -> Move | None:
        """Return what moves normalized points between their groups, if anything does."""
        return None

    def refuse(self, case: TrainingRequest) -> None:
        """Refuse a training that this kind cannot do, by `TrainingRequest.refuse`."""

    @property
    def normalizer_kind(self) -> str:
        """The kind of normalizer; the initial model's, if any."""
        given = self.initial_model
        return self.normalization if given is None else given.normalizer.kind


@dataclass(kw_only=True, eq=False, repr=False)
class MiniBatchParameters(SharedParameters):
    """The parameters of kinds that are trained by mini-batches; their docstrings describe them."""

    epochs: int = EPOCHS(200)
    batch_size: int | str = BATCH_SIZE("auto")
    learning_rate: float = LEARNING_RATE(0.01)
    input_noise: float | str = INPUT_NOISE("auto")
