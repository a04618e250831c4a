"""What cannot be combined in a training: each part refuses what it cannot do, by one sentence.

Here are the refusals of the parts that every training has. Those of a kind of feature or classifier
are next to its parameters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from protonn_edge.learn.parameters import SharedParameters
from protonn_edge.learn.refusal import (
    BeforePoints,
    OfPoints,
    Refusal,
    TrainingRequest,
    excluded,
    without_effect,
)
from protonn_edge.system.errors import InputError
from protonn_edge.system.wording import KEYWORDS


class _Options(dict[str, object]):
    """Names a parameter as the command line does, if it has the parameter."""

    def __missing__(self, name: str) -> str:
        options = (f"--{option}" for option, keyword in KEYWORDS.items() if keyword == name)
        return next(options, name)


class Incompatible(InputError):
    """The training is refused by one of its parts."""


def check_compatible(case: TrainingRequest, own: Iterable[Refusal] = ()) -> None:
    """Refuse a training by the first refusal that applies; `own` are those of its kind."""
    _refuse(case, refusal_of(case, own))


def _refuse(case: TrainingRequest, sentence: str | None) -> None:
    if sentence is not None:
        raise Incompatible(sentence.format_map(_Options(settings=case.settings, case=case)))


def check_before_points(
    settings: SharedParameters, *, given: Collection[str], in_groups: bool
) -> None:
    """Refuse what can be refused before the points are read, as `check_compatible` does."""
    case = TrainingRequest(
        settings=BeforePoints(settings, given),
        predicts=OfPoints(),
        in_groups=in_groups,
        given=frozenset(given),
    )
    sentence = next(filter(None, (each.refused(case) for each in settings.own_refusals())), None)
    _refuse(case, sentence or refusal_of(case))


def refusal_of(case: TrainingRequest, own: Iterable[Refusal] = ()) -> str | None:
    """Return the sentence of the first refusal that applies, or None."""
    every = chain(REFUSALS, IMAGES, COPIES, _of_features(case), WITHOUT_FEATURES, own)
    return next(filter(None, (each.refused(case) for each in every)), None)


def _of_features(case: TrainingRequest) -> Iterator[Refusal]:
    """Yield what the requested kind of features refuses."""
    if case.asked is not None:
        yield from case.asked.refusals


def _for_one_label_each(case: TrainingRequest) -> str:
    """Return what learns from the class of each point, and is wanted without such classes."""
    if case.predicts == "class":
        return ""
    settings = case.settings
    if case.in_groups and settings.group_shift > 0 and case.first_set("group_shift"):
        return "{group_shift}"
    names = f"class_weight strangers {case.names_only_for('classes')}"
    return case.first_set(names + " copies" * (case.predicts == "labels"))


def _unused(case: TrainingRequest) -> str:
    """Return why a parameter has no effect that only other values of another one use."""
    for name, each in case.settings.parameters.items():
        for setting in (word for word in each.only.split() if "=" in word):
            other, _, values = setting.partition("=")
            if name in case.given and getattr(case.settings, other) not in values.split("|"):
                shown = " or ".join(map(repr, values.split("|")))
                return f"{{{name}}} has no effect, because only {{{other}}} {shown} uses it"
    return ""


def _of_other_targets(case: TrainingRequest) -> bool:
    model = case.model
    return model is not None and model.policy.predicts != case.predicts


REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        lambda case: case.predicts == "labels" and "labels" not in case.settings.takes,
        "points have sets of labels, but this kind of classifier learns one class for each; train "
        "a ProtoNN (--classifier protonn)",
    ),
    Refusal(_for_one_label_each, "{it} is for points of one class each; leave it out"),
    Refusal(
        lambda case: case.for_floats_alone and case.first_set(case.names_only_for("devices")),
        "{it} is not possible, because no device supports the {normalization} 'l2'; leave it out",
    ),
    Refusal(_unused, "{it}; leave it out"),
    Refusal(
        _of_other_targets,
        "the data and the model to start from differ in what they predict: classes, sets of labels "
        "or numbers; start from a model of the same kind, or from none",
    ),
    excluded(
        lambda case: (
            case.model is not None
            and case.asked is not None
            and not case.asked.continues(case.model.features, case.settings)
        ),
        "the model to start from has features of its own, or none",
        "{features}",
    ),
    Refusal(
        lambda case: (
            "group_shift" in case.given and case.settings.group_shift > 0 and not case.in_groups
        ),
        "{group_shift} moves points only between the groups that {groups} names, not between those "
        "that the data has of its own; give both",
    ),
    Refusal(
        lambda case: (
            bool(case.settings.augment)
            and case.settings.image_shape is None
            and (case.asked is None or case.asked.augmentation(1.0) is None)
        ),
        "{augment} moves images, but their size is not given; give {image_shape}, such as "
        "{image_shape} 28x28, or train without moved images",
    ),
    excluded(
        lambda case: case.clips and case.asked is not None and not case.asked.can_be_clipped,
        "{features} makes values that are not clipped",
        "{clip}",
    ),
)


def _only_prepares(case: TrainingRequest) -> bool:
    """Return whether images are prepared, and nothing is computed of them."""
    from protonn_edge.learn.features import ImageRequest

    return type(case.asked) is ImageRequest


def _are_windows_alone(case: TrainingRequest) -> bool:
    """Return whether these features may not be of images."""
    from protonn_edge.learn import features

    asked = case.asked
    of_samples = asked is not None and asked.of_samples and not asked.of_images
    return features.given_signals(case) or of_samples


IMAGES: tuple[Refusal, ...] = (
    Refusal(
        _only_prepares,
        "{features} is {settings.features}, which prepares images but computes no features; add "
        "features, such as pool:4x4 or gradients:4x4",
    ),
    Refusal(
        lambda case: (
            case.asked is not None
            and case.asked.of_images
            and case.settings.image_shape is None
            and not (case.asked.of_samples and case.settings.window_shape)
        ),
        "{features} is {settings.features}, but the shape of the image is not given; give its "
        "height and width with {image_shape}",
    ),
    Refusal(
        lambda case: (
            case.settings.image_shape is not None
            and (case.settings.window_shape is not None or _are_windows_alone(case))
        ),
        "points are either images or windows of samples, but {image_shape} is given with the shape "
        "or the features of windows; leave one of the two out",
    ),
)


def _copies_windows(case: TrainingRequest) -> bool:
    """Return whether windows or clips are copied."""
    from protonn_edge.learn.features import is_of_windows

    settings = case.settings
    return bool(settings.copies and settings.image_shape is None and is_of_windows(case))


COPIES: tuple[Refusal, ...] = (
    Refusal(
        lambda case: case.settings.background_noise is not None and not _copies_windows(case),
        "{background_noise} is mixed only into copies of windows and clips; set {copies} above 0 "
        "and {features} to features of windows or clips, or leave {background_noise} out",
    ),
    Refusal(
        lambda case: (
            case.settings.copies > 0
            and case.settings.image_shape is None
            and (case.asked is None or not case.asked.of_samples)
        ),
        "{copies} is {settings.copies}, but copies are moved at random, which is possible only for "
        "images, windows of samples and clips of sound; omit {copies}, or declare the points as "
        "one of these with {image_shape}, or with {window_shape} and {features}",
    ),
)


def _of_no_windows(case: TrainingRequest) -> str:
    """Return what describes windows, although no features of windows are requested."""
    from protonn_edge.learn.features import is_of_windows

    if is_of_windows(case):
        return ""
    has_shape = case.settings.window_shape is not None
    return "{window_shape}" if has_shape else case.first_given("sample_rate")


WITHOUT_FEATURES: tuple[Refusal, ...] = (
    without_effect(
        lambda case: not case.asks_for("conv"),
        "network_epochs network_moved_share network_still_epochs",
        "no convolutions are learned",
    ),
    Refusal(
        _of_no_windows,
        "{it} is given, but no features of windows are requested; name some, such as "
        "{features} mean,deviation,min,max, or leave {it} out",
    ),
)
