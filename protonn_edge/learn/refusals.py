"""What cannot be combined in a training: each part refuses what it cannot do, by one sentence.

Here are the refusals of the parts that every training has. Those of a kind of feature or classifier
are in the method `refuse` of its request or parameters.
"""

from __future__ import annotations

from protonn_edge.learn.training_request import Incompatible, TrainingRequest, option_of


def is_refused(case: TrainingRequest) -> bool:
    """Return whether a training is refused."""
    try:
        check_compatible(case)
    except Incompatible:
        return True
    return False


def check_compatible(case: TrainingRequest) -> None:
    """Refuse a training by the first part that it contradicts."""
    check_parts(case)
    case.settings.refuse(case)


def check_parts(case: TrainingRequest) -> None:
    """Refuse what parts other than the kind of classifier exclude, also before points are read."""
    _check_labels(case)
    _check_used(case)
    _check_start(case)
    _check_images(case)
    _check_copies(case)
    if case.asked is not None:
        case.asked.refuse(case)
    _check_windows(case)


def _check_labels(case: TrainingRequest) -> None:
    """Refuse what the labels, or a model without integers, exclude."""
    settings = case.settings
    if case.predicts == "labels" and "labels" not in settings.takes:
        case.refuse(
            "points have sets of labels, but this kind of classifier learns one class for each; "
            "train a ProtoNN (--classifier protonn)"
        )
    if case.predicts not in (None, "class"):
        names = f"class_weight strangers {case.names_only_for('classes')}"
        names += " copies" * (case.predicts == "labels")
        moves = case.in_groups and settings.group_shift > 0
        if option := case.first_set("group_shift " * moves + names):
            case.refuse(f"{option} is for points of one class each; leave it out")
    if case.for_floats_alone and (option := case.first_set(case.names_only_for("devices"))):
        case.refuse(
            f"{option} is not possible, because no device supports the --normalization 'l2'; leave "
            "it out"
        )


def _check_used(case: TrainingRequest) -> None:
    """Refuse a parameter that only other values of another one use."""
    for name, each in case.settings.parameters.items():
        for setting in (word for word in each.only.split() if "=" in word):
            other, _, values = setting.partition("=")
            if name in case.given and getattr(case.settings, other) not in values.split("|"):
                shown = " or ".join(map(repr, values.split("|")))
                case.refuse(
                    f"{option_of(name)} has no effect, because only {option_of(other)} {shown} "
                    "uses it; leave it out"
                )


def _check_start(case: TrainingRequest) -> None:
    """Refuse what the model to start from, or the groups, exclude."""
    model, asked, settings = case.model, case.asked, case.settings
    if model is not None and case.has_points and model.policy.predicts != case.predicts:
        case.refuse(
            "the data and the model to start from differ in what they predict: classes, sets of "
            "labels or numbers; start from a model of the same kind, or from none"
        )
    if model is not None and asked is not None and not asked.continues(model.features, settings):
        case.refuse_given("--features", "the model to start from has features of its own, or none")
    if "group_shift" in case.given and settings.group_shift > 0 and not case.in_groups:
        case.refuse(
            "--group-shift moves points only between the groups that --groups names, not between "
            "those that the data has of its own; give both"
        )


def _check_images(case: TrainingRequest) -> None:
    """Refuse images without a size, and features that are not of images."""
    from protonn_edge.learn.features import ImageRequest, given_signals

    settings, asked = case.settings, case.asked
    lacks_size = case.has_points and settings.image_shape is None
    if settings.augment and lacks_size and (asked is None or asked.augmentation(1.0) is None):
        case.refuse(
            "--augment moves images, but their size is not given; give --image-shape, such as "
            "--image-shape 28x28, or train without moved images"
        )
    if case.clips and asked is not None and not asked.can_be_clipped:
        case.refuse_given("--clip", "--features makes values that are not clipped")
    if type(asked) is ImageRequest:
        case.refuse(
            f"--features is {settings.features}, which prepares images but computes no features; "
            "add features, such as pool:4x4 or gradients:4x4"
        )
    of_samples = asked is not None and asked.of_samples
    of_images = asked is not None and asked.of_images
    if of_images and lacks_size and not (of_samples and settings.window_shape):
        case.refuse(
            f"--features is {settings.features}, but the shape of the image is not given; give its "
            "height and width with --image-shape"
        )
    of_windows = case.has_points and (given_signals(case) or (of_samples and not of_images))
    if settings.image_shape is not None and (settings.window_shape is not None or of_windows):
        case.refuse(
            "points are either images or windows of samples, but --image-shape is given with the "
            "shape or the features of windows; leave one of the two out"
        )


def _check_copies(case: TrainingRequest) -> None:
    """Refuse copies of points that cannot be moved, and noise without windows to mix it into."""
    from protonn_edge.learn.features import is_of_windows

    settings, asked = case.settings, case.asked
    are_no_images = settings.image_shape is None
    copies_windows = settings.copies and are_no_images and is_of_windows(case)
    if settings.background_noise is not None and not copies_windows:
        case.refuse(
            "background_noise is mixed only into copies of windows and clips; set --copies above 0 "
            "and --features to features of windows or clips, or leave background_noise out"
        )
    of_samples = asked is not None and asked.of_samples
    if settings.copies > 0 and case.has_points and are_no_images and not of_samples:
        case.refuse(
            f"--copies is {settings.copies}, but copies are moved at random, which is possible "
            "only for images, windows of samples and clips of sound; omit --copies, or declare the "
            "points as one of these with --image-shape, or with --window and --features"
        )


def _check_windows(case: TrainingRequest) -> None:
    """Refuse what describes convolutions or windows, if there are none."""
    from protonn_edge.learn.features import is_of_windows

    if not case.asks_for("conv"):
        case.refuse_without_effect(
            "network_epochs network_moved_share network_still_epochs",
            "no convolutions are learned",
        )
    if is_of_windows(case):
        return
    option = case.first_given("sample_rate") if case.has_points else ""
    if option := "--window" if case.settings.window_shape is not None else option:
        case.refuse(
            f"{option} is given, but no features of windows are requested; name some, such as "
            f"--features mean,deviation,min,max, or leave {option} out"
        )
