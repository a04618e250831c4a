"""Options of `train` and `tune`, made from the declared parameters of classifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from protonn_edge.cli.command import Command, option, together
from protonn_edge.cli.option_groups import row
from protonn_edge.cli.options import BYTES, FiniteRange, shape, some_of
from protonn_edge.learn.parameters import (
    AUTO,
    ByteCount,
    Choices,
    Number,
    Parameter,
    SharedParameters,
    Sides,
    Subset,
)
from protonn_edge.learn.searched import ANY, BEST, FEATURES_SEARCHED
from protonn_edge.model.features import Features
from protonn_edge.model.registry import ESTIMATORS, PARAMETERS, REGRESSORS
from protonn_edge.system.errors import InputError, lacking, shortened

if TYPE_CHECKING:
    from protonn_edge.learn.base import DeviceClassifier


_OF_PARAMETERS = {"start_from": "initial_model"}  # options with parameters of another name
_SET = "set_by_name"  # the argument of a command that has the values of --set


class ClassifierCommand(Command):
    """A command that shows the help of a kind of classifier if one is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; --help waits until the kind is known."""
        names = self.get_help_option_names(ctx)
        helps = [word for word in args if word in names]
        return super().parse_args(ctx, [*(word for word in args if word not in names), *helps[:1]])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of the command, or of a kind."""
        if ctx.get_parameter_source("classifier") != ParameterSource.COMMANDLINE:
            super().format_options(ctx, formatter)
            return
        name = ctx.params["classifier"]
        own = {param.name: param for param in self.params if isinstance(param, click.Option)}
        options, settings = [], []
        for parameter, declared in parameters_of(name).items():
            default = getattr(_kind_of(name), parameter)
            text = declared.help
            if "[default" not in text:
                text += _default_text(default)
            if parameter not in own:
                settings.append((f"{parameter}={_values_text(declared)}", text))
            elif not (declared.common and parameter in SharedParameters.parameters):
                options.append((row(own[parameter], ctx)[0], text))
        for title, rows in ((f"--classifier {name}", options), ("--set NAME=VALUE", settings)):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _default_text(default: object) -> str:
    if default is None:
        return ""
    text = ",".join(default) if isinstance(default, tuple) else str(default)
    return f"  [default: {text.lower() if isinstance(default, bool) else text}]"


def _values_text(declared: Parameter) -> str:
    """Return the values that a name of --set takes, such as "X" or "joint|alternating"."""
    kind = type_of(declared)
    if isinstance(kind, click.Choice):
        return "|".join(map(str, kind.choices))
    return {"integer range": "N", "float range": "X"}.get(kind.name, kind.name).lower()


def parameters_of(classifier: str) -> dict[str, Parameter]:
    """Return the parameters of a kind of classifier that the command line can give, by name."""
    return {name: each for name, each in _kind_of(classifier).parameters.items() if each.help}


def _kind_of(classifier: str) -> type[SharedParameters]:
    parameters: type[SharedParameters] = PARAMETERS.get(classifier, SharedParameters)
    return parameters


class _Kinds(click.Choice[str]):
    """Kinds of models; the message about another one leads on."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the kind, or fail."""
        from protonn_edge.data.naming import did_you_mean

        if value not in self.choices:
            inside = [each for each in self.choices if each in str(value).lower()]
            near = f"; did you mean {inside[0]!r}?" if inside else did_you_mean(value, self.choices)
            self.fail(
                f"{value!r} is not one of {', '.join(map(repr, self.choices))}{near}; "
                "docs/which-model.md compares these, 'convert' takes other kinds of classifiers, "
                "trained with scikit-learn and other programs",
                param,
                ctx,
            )
        return super().convert(value, param, ctx)


class GivenClassifier(NamedTuple):
    """A kind of classifier, and its parameters on the command line."""

    name: str
    options: Mapping[str, Any]  # values by the names of parameters, and those of --set

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that are given; raises the errors of `given_parameters`."""
        return given_parameters(self.name, self.options)

    def untrained(self, seed: int, estimator: str = "Classifier") -> DeviceClassifier:
        """Return a classifier or a regressor of this kind with these parameters, and a seed."""
        estimators = ESTIMATORS if estimator == "Classifier" else self.regressors()
        made: DeviceClassifier = estimators[self.name](random_state=seed, **self.parameters())
        return made

    def regressors(self) -> Mapping[str, Any]:
        """Return the kinds that predict numbers; refuse the chosen kind if it is none of them."""
        if self.name in PARAMETERS and self.name not in REGRESSORS:
            raise InputError(
                f"the kind {self.name!r} cannot predict a number, but the labels are numbers; "
                f"choose --classifier {' or '.join(REGRESSORS)}, or train with --target class"
            )
        return REGRESSORS


def classifier_options(parameters: Mapping[str, Parameter], kinds: Sequence[str]) -> Any:
    """Declare ``--classifier``, options of parameters, and ``--set`` for others."""
    kind = option(
        f"The kind of model: {', '.join(kinds)}; with --help, list its options.  [default: "
        f"{kinds[0]}]",
        _Kinds(kinds),
        metavar="KIND",
        default=kinds[0],
        is_eager=True,
    )
    parts = {"classifier": kind}
    parts |= {
        name: option(
            declared.help, type_of(declared), flag=declared.option, hidden=not declared.common
        )
        for name, declared in parameters.items()
    }
    parts[_SET] = option(
        "Any other parameter; see --classifier KIND --help.",
        flag="--set",
        multiple=True,
        metavar="NAME=VALUE",
    )
    return together(lambda classifier, **options: GivenClassifier(classifier, options), parts)


def _range(numbers: Number) -> click.ParamType[Any]:
    if numbers.type is int:
        return click.IntRange(int(numbers.low), None if numbers.high is None else int(numbers.high))
    return FiniteRange(
        numbers.low,
        numbers.high,
        min_open=numbers.closed in ("right", "neither"),
        max_open=numbers.closed in ("left", "neither"),
    )


class _OrAuto(click.ParamType[Any]):
    """Numbers, or the word "auto"."""

    def __init__(self, numbers: click.ParamType[Any]) -> None:
        self._numbers, self.name = numbers, numbers.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the word or the number, or fail as for a number."""
        return value if value == "auto" else self._numbers.convert(value, param, ctx)


_TAKING: dict[type[Any], Callable[[Any], click.ParamType[Any]]] = {
    ByteCount: lambda _: BYTES,
    Number: _range,
    Sides: lambda each: shape(each.names, each.what, each.second),
    Subset: lambda each: some_of(each.words),
    Choices: lambda each: click.Choice(each.values),
}


def type_of(declared: Parameter, *, number: bool = False) -> click.ParamType[Any]:
    """Return the type of a parameter on the command line: the type of its first values there.

    A flag that may also be a `number` has two.
    """
    if "boolean" in declared.values and not number:
        return click.BOOL
    types = (_TAKING[type(each)](each) for each in declared.values if type(each) in _TAKING)
    first = click.STRING if str in declared.values else next(types)
    return _OrAuto(first) if AUTO in declared.values else first


def given_parameters(classifier: str, options: Mapping[str, Any]) -> dict[str, object]:
    """Return the parameters that options and --set give; refuse those of other kinds."""
    parameters = parameters_of(classifier)
    given = {name: value for name, value in options.items() if name != _SET and was_given(name)}
    by_name = _set_names(options[_SET])
    for name in [*given, *filter(was_given, _OF_PARAMETERS), *by_name]:
        if _OF_PARAMETERS.get(name, name) not in _kind_of(classifier).parameters:
            set_name = f"--set {shortened(name)}"
            flag = set_name if name in by_name else flags().get(name, set_name)
            raise InputError(
                f"{flag} is given, but the classifier {classifier!r} has no such parameter; omit "
                f"{flag}{_where_known(_OF_PARAMETERS.get(name, name), parameters)}"
            )
    given |= dict(_set_values(options[_SET], parameters))
    if str(given.get("features")).endswith(".npz"):
        given["features"] = _features_of(Path(given["features"]))
    return given


def _where_known(name: str, parameters: Iterable[str]) -> str:
    """Return which kinds have a parameter that one lacks, or what its name may be instead."""
    from protonn_edge.data.naming import did_you_mean

    offered = click.get_current_context().command.params
    choices = next(each.type for each in offered if each.name == "classifier")
    assert isinstance(choices, _Kinds)
    kinds = [kind for kind in choices.choices if kind in PARAMETERS]
    having = [kind for kind in kinds if name in _kind_of(kind).parameters]
    if not having:
        near: str = did_you_mean(name, parameters)
        return near
    return f", or choose --classifier {' or '.join(having)}"


def _set_names(texts: Iterable[str]) -> list[str]:
    return [text.partition("=")[0] for text in texts]


def _set_values(texts: Iterable[str], parameters: Mapping[str, Parameter]) -> Any:
    for text in texts:
        name, equals, value = text.partition("=")
        flag, values = flags().get(name, ""), parameters[name].values if name in parameters else ()
        number = "boolean" in values and len(values) > 1  # a flag that may be a number, too
        if name not in parameters or (flag != f"--set {name}" and not number):
            own = flag if "boolean" in values else f"{flag} {quote(value) if value else 'VALUE'}"
            has = f"has an option of its own; give {own} in its place"
            has = has if flag else "can be set only in Python; omit it"
            raise InputError(f"--set {name} is given, but this parameter {has}")
        if not equals:
            raise lacking(f"--set {shortened(text)}", "value", f"use --set {name}=VALUE")
        declared = parameters[name]
        if value == "none" and None in declared.values:
            yield name, None
            continue
        try:
            yield name, type_of(declared, number=number).convert(value, None, None)
        except click.BadParameter as error:
            raise click.BadParameter(error.message, param_hint=f"'--set {name}'") from None


def _features_of(path: Path) -> Features:
    from protonn_edge.model.file import load_model

    stage: Features | None = load_model(path).features
    if stage is None:
        raise InputError(
            f"--features is {path.name}, but this model computes no features; name a model that "
            "does, or list features, such as conv:8x3,max2"
        )
    return stage


def was_given(name: str) -> bool:
    """Return whether an option, or a name of --set, is given on the command line."""
    context = click.get_current_context()
    source = context.get_parameter_source(name)
    by_name = _set_names(context.params.get(_SET, ()))
    return source not in (ParameterSource.DEFAULT, None) or name in by_name


def flags() -> dict[str, str]:
    """Return the command-line names of options, and names for --set, by their Python names."""
    params = click.get_current_context().command.params
    options = {str(param.name): param.opts[0] for param in params}
    names = {name for kind in PARAMETERS for name in parameters_of(kind)}
    return {**{name: f"--set {name}" for name in names}, **options}


def every_classifier() -> Any:
    """Declare the classifier to train, or the best of all: the options of all kinds."""
    every = {
        name: each
        for kind in PARAMETERS
        for name, each in parameters_of(kind).items()
        if each.option
    }
    return classifier_options(every, (*PARAMETERS, BEST))


def any_classifier() -> Any:
    """Declare the classifier to search for, or any: the options of features."""
    features = {
        name: each
        for name, each in parameters_of(ANY).items()
        if each.option and name not in FEATURES_SEARCHED
    }
    return classifier_options(features, (*PARAMETERS, ANY))
