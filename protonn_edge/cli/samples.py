"""Settings and notices for features of windows and images, by the points."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from protonn_edge.cli.train_options import was_given
from protonn_edge.data.naming import Notice, channel_names, listed, quoted
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.expected import is_same_rate
from protonn_edge.data.roles.groups import overlapping_runs
from protonn_edge.learn.features import (
    AUTO,
    LONGEST_WINDOW,
    FeatureRequest,
    in_place_of_long,
    is_shaped_as_window,
)
from protonn_edge.learn.learner import Learner
from protonn_edge.learn.parameters import FeatureParameters
from protonn_edge.system.errors import InputError, counted

_NUMBERED = re.compile(r"(.*?)(\d+(?:\.\d+)?)(\D*)")  # a name, by its last number
_AXES = 2  # samples and channels of a window, height and width of an image


def settled_samples(dataset: Dataset, settings: FeatureParameters) -> dict[str, Any]:
    """Return the parameters for features of samples that follow from the points, if needed.

    Raises `InputError` if clips of sound would begin at another level than the data's: the board
    would begin its clips elsewhere.
    """
    settings_of_data: dict[str, Any] = {}
    if settings.features is None and _has_windows(dataset, settings):
        settings_of_data["features"] = AUTO
        settings = settings.frozen(features=AUTO)
    asked = settings.asked
    if asked is None or not of_windows(dataset, asked):
        return _image_shape_of(dataset, settings)
    if not was_given("window_shape"):
        settings_of_data["window_shape"] = _window_of(dataset)
    if not is_same_rate(dataset.sample_rate, settings.sample_rate):
        raise InputError(
            f"--sample-rate is {settings.sample_rate:g}, but the data was sampled at "
            f"{dataset.sample_rate:g} Hz; omit --sample-rate, or correct the rate with 'windows "
            f"--rate {settings.sample_rate:g}'"
        )
    if not was_given("sample_rate") and dataset.sample_rate is not None:
        settings_of_data["sample_rate"] = dataset.sample_rate
    if settings.copies and dataset.background_noise is not None:
        settings_of_data["background_noise"] = dataset.background_noise
    if isinstance(settings.features, str):
        text = asked.text_for(settings.features, dataset)
        if text != settings.features:
            settings_of_data["features"] = text
    return settings_of_data


def _image_shape_of(dataset: Dataset, settings: FeatureParameters) -> dict[str, object]:
    """Return the shape of the data's images, if it is needed and was not given."""
    given, shape = settings.image_shape, dataset.point_shape
    if dataset.pixels and given is not None and given != shape:
        here, there = ("x".join(map(str, each)) for each in (given, shape))
        raise InputError(
            f"--image-shape is {here}, but the images have {there} pixels; omit --image-shape, "
            "or scale the images with --size HxW"
        )
    if given is not None and math.prod(given) != dataset.n_features:
        raise InputError(
            f"--image-shape {'x'.join(map(str, given))} has {math.prod(given):,} pixels, but the "
            f"data has {counted(dataset.n_features, 'feature')}; omit --image-shape, or give the "
            "height and the width of a point"
        )
    of_images = dataset.pixels or (settings.asked is not None and settings.asked.of_images)
    if not of_images or len(shape) != _AXES or was_given("image_shape"):
        return {}
    if _is_signal(dataset):
        raise InputError(
            f"--features is {settings.features}, which is for images, but the data has windows of "
            "samples; choose features of windows, such as mean,deviation, or give --image-shape"
        )
    return {"image_shape": shape}


def of_windows(dataset: Dataset, asked: FeatureRequest | None) -> bool:
    """Return whether the features are of windows: some kinds can be of images, too."""
    if asked is None or not (asked.of_samples and asked.of_images):
        return asked is not None and asked.of_samples
    return was_given("window_shape") or (_is_signal(dataset) and not was_given("image_shape"))


def _is_signal(dataset: Dataset) -> bool:
    *_, channels = dataset.point_shape or (1,)
    return bool(dataset.sample_rate or channel_names(dataset.feature_names, channels))


def _has_windows(dataset: Dataset, settings: FeatureParameters) -> bool:
    """Return whether the points are windows of a sensor, for which features are to be found."""
    starts = getattr(settings, "initial_model", None) is not None
    if starts or settings.image_shape is not None or was_given("image_shape"):
        return False
    is_window = _is_signal(dataset) or is_shaped_as_window(dataset)
    is_window = is_window and len(dataset.point_shape) == _AXES and dataset.onset is None
    return is_window and dataset.point_shape[0] <= LONGEST_WINDOW


def with_found_features(learner: Learner, dataset: Dataset, seed: int) -> Dataset:
    """Have a classifier use the features that the training points choose, if it asks for that.

    Points of a group or, without groups, overlapping windows are never divided. Returns the data
    set with a notice of what was chosen.
    """
    if learner.features != AUTO:
        return dataset
    from protonn_edge.learn.found_features import found_features

    groups = overlapping_runs(dataset) if dataset.groups is None else dataset.groups
    y = dataset.as_targets(dataset.y_train)
    points, _, labels = learner.target.labels.of(y).given(learner, dataset.X_train, y, None)
    points = replace(points, group=groups)
    found = found_features(learner.frozen(), points, labels, seed)
    learner.features = found.text
    notice = Notice("features", str(found))
    return replace(dataset, notices=(*dataset.notices, notice))


def with_sample_notices(dataset: Dataset, asked: FeatureRequest | None) -> Dataset:
    """Return the data set with notices about assumptions on its windows.

    Without features, each sample of a window is a feature, which users seldom want. Rows of a table
    and arrays may be windows, or something else. Features may assume something of points, too.
    """
    notices = []
    of_samples, shape = of_windows(dataset, asked), dataset.point_shape
    has_axes, is_signal = len(shape) == _AXES, _is_signal(dataset) or is_shaped_as_window(dataset)
    if not of_samples and has_axes and is_signal and shape[0] > LONGEST_WINDOW:
        text = (
            "the features are the individual samples of the windows, which are longer than the "
            f"{LONGEST_WINDOW} samples of features of windows; "
            f"{in_place_of_long(shape)}"
        )
        notices.append(Notice("samples", text))
    is_told = was_given("image_shape") or was_given("window_shape") or dataset.pixels
    if asked is None and has_axes and not (is_signal or is_told):
        sides = "x".join(map(str, shape))
        text = (
            f"each of the {sides} values of a point is a feature; give --window SAMPLESxCHANNELS "
            f"if they are windows, or --image-shape {sides} if they are images"
        )
        notices.append(Notice("samples", text))
    if of_samples and not dataset.point_shape and not was_given("window_shape"):
        text = (
            f"each point is treated as a window of {dataset.n_features:,} samples of one channel; "
            "give another shape with --window, or cut recordings with 'windows'"
        )
        notices.append(Notice("window", text))
    if asked is not None:
        notices += asked.notices(dataset)
    return replace(dataset, notices=(*dataset.notices, *notices))


def _window_of(dataset: Dataset) -> tuple[int, int]:
    if dataset.layout is not None and dataset.layout.time:
        raise InputError(
            "--features is given, but the data is a recording with one sample per row and times "
            f"in column {quoted(dataset.layout.time)}; cut the recording with 'protonn-edge "
            "windows' first, or give --window if each row is a window"
        )
    if len(dataset.point_shape) > 2:
        raise InputError(
            "--features needs windows, but each point of the data has the shape "
            f"{'x'.join(map(str, dataset.point_shape))}; give --window SAMPLESxCHANNELS"
        )
    if not dataset.point_shape and not _are_in_series(dataset.feature_names):
        with_rate = " and --sample-rate" * was_given("sample_rate")
        raise InputError(
            "--features needs windows, but the columns of the data are named "
            f"{listed(dataset.feature_names)}, unlike the samples of a channel in order; omit "
            f"--features{with_rate}, or give --window {dataset.n_features}x1 if each row is a "
            "window"
        )
    samples, channels, *_ = (*(dataset.point_shape or (dataset.n_features,)), 1)
    return samples, channels


def _are_in_series(names: Sequence[str]) -> bool:
    """Return whether names differ only by a rising number, such as of samples, or are unknown."""
    parts = [_NUMBERED.fullmatch(name) for name in names]
    numbered = [(each[1], each[3], float(each[2])) for each in parts if each]
    if len(numbered) < len(names) or len({each[:2] for each in numbered}) > 1:
        return False
    return all(before < after for (*_, before), (*_, after) in pairwise(numbered))
