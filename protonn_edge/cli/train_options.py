"""Command-line options made from the classifiers' parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from sklearn.utils._param_validation import Interval

from protonn_edge.chain.file import load_model
from protonn_edge.cli.command import FiniteRange, ParameterOption
from protonn_edge.cli.quantities import Bytes, ShapeType, Some
from protonn_edge.errors import InputError
from protonn_edge.features.convolution.stage import Convolutions
from protonn_edge.kinds.train import CLASSIFIERS
from protonn_edge.training.base import DeviceClassifier
from protonn_edge.training.feature_registry import AllFeatures
from protonn_edge.training.options import ByteCount, Choices, Counts, Shape, Subset
from protonn_edge.training.searched import ANY

_F = TypeVar("_F", bound=Callable[..., Any])

_OF_PARAMETERS = {"start_from": "initial_model"}  # options whose parameters have another name


def classifier_options(command: _F) -> _F:
    """Add ``--classifier``, and the options of all classifiers, to a command."""
    kinds = {name: kind for kind in reversed(CLASSIFIERS.values()) for name in reversed(kind.flags)}
    for parameter, kind in kinds.items():
        command = _option(parameter, kind)(command)
    return classifier_option(command)


def classifier_option(command: _F) -> _F:
    """Add ``--classifier`` to a command."""
    return _kind_option(tuple(CLASSIFIERS), command)


def any_classifier_option(command: _F) -> _F:
    """Add ``--classifier`` to a command that can also search for the best kind."""
    return _kind_option((*CLASSIFIERS, ANY), command)


def _kind_option(names: tuple[str, ...], command: _F) -> _F:
    return click.option(
        "--classifier",
        type=click.Choice(names),
        default=names[0],
        show_default=True,
        help="The kind of model; some options apply to one kind only.",
    )(command)


def feature_options(command: _F) -> _F:
    """Add the options for features and preprocessing; None if not given."""
    for parameter, (flag, text) in reversed(AllFeatures.flags.items()):
        taken = type_of(parameter, AllFeatures)
        command = click.option(
            flag, parameter, cls=ParameterOption, type=taken, default=None, help=text
        )(command)
    return command


_TAKING: dict[type[Any], Callable[[Any], click.ParamType[Any]]] = {
    ByteCount: lambda _: Bytes(),
    Shape: lambda each: ShapeType(each.sides, each.what, each.second),
    Subset: lambda each: Some(each.words),
    Choices: lambda each: click.Choice(each.words),
    Counts: lambda each: click.Choice(each.numbers),
}


def type_of(parameter: str, kind: type[AllFeatures]) -> click.ParamType[Any]:
    """Return the type of the option for a parameter of a kind of classifier."""
    values = kind._parameter_constraints[parameter]
    for values_of, taking in _TAKING.items():
        for each in values:
            if isinstance(each, values_of):
                return taking(each)
    if "boolean" in values:
        return click.BOOL
    return click.STRING if str in values else _range_of(kind._parameter_constraints[parameter])


def _range_of(constraints: Sequence[Any]) -> click.ParamType[Any]:
    """Return the numeric range of an estimator's parameter, as an option's type."""
    (interval,) = (each for each in constraints if isinstance(each, Interval))
    if interval.type is Integral:
        return click.IntRange(interval.left, interval.right)
    return FiniteRange(
        interval.left,
        interval.right,
        min_open=interval.closed in ("right", "neither"),
        max_open=interval.closed in ("left", "neither"),
    )


def new_classifier(name: str, seed: int, options: dict[str, Any]) -> DeviceClassifier:
    """Return a classifier with the options given on the command line.

    Raises
    ------
    InputError
        If one of them belongs to another kind of classifier.
    """
    kind = CLASSIFIERS[name]
    given = {option: value for option, value in options.items() if was_given(option)}
    for option in [*given, *filter(was_given, _OF_PARAMETERS)]:
        if _OF_PARAMETERS.get(option, option) not in kind._parameter_constraints:
            raise InputError(
                f"{flags()[option]} is given, but the classifier {name!r} does not have it; leave "
                "it out, or choose another --classifier"
            )
    if str(given.get("convolutions")).endswith(".npz"):
        given["convolutions"] = _layers_of(Path(given["convolutions"]))
    return kind(random_state=seed, **given)


def _layers_of(path: Path) -> Convolutions:
    """Return the convolutions of the model in a file."""
    stage = load_model(path).feature_stage
    if isinstance(stage, Convolutions):
        return stage
    raise InputError(
        f"the model in {path.name} has no convolutions; name a model that has, or give layers, "
        "such as 8x3,max2"
    )


def was_given(option: str) -> bool:
    """Return whether an option is given on the command line."""
    source = click.get_current_context().get_parameter_source(option)
    return source not in (ParameterSource.DEFAULT, None)


def given_options() -> frozenset[str]:
    """Return the names of all options given on the command line."""
    return frozenset(filter(was_given, flags()))


def flags() -> dict[str, str]:
    """Return the command-line names of the command's options, by their Python names."""
    params = click.get_current_context().command.params
    return {param.name: param.opts[0] for param in params}


def _option(parameter: str, kind: type[DeviceClassifier]) -> Callable[[_F], _F]:
    taken, default = type_of(parameter, kind), getattr(kind, parameter)
    # A number's default may be a word, such as "auto", which the option itself does not accept.
    word = isinstance(default, str) and not isinstance(taken, click.Choice)
    shown = {"show_default": default} if word else {"default": default, "show_default": True}
    flag, text = kind.flags[parameter]
    return click.option(flag, parameter, cls=ParameterOption, type=taken, help=text, **shown)
