"""Options of `train` and `tune`, made from the declared parameters of classifiers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from protonn_edge.cli.command import Command, Declared, option, together
from protonn_edge.cli.option_groups import row
from protonn_edge.cli.options import BYTES, FiniteRange, shape, some_of
from protonn_edge.learn.parameters import (
    AUTO,
    ByteCount,
    Choices,
    FeatureParameters,
    Number,
    Parameter,
    SharedParameters,
    Sides,
    Subset,
)
from protonn_edge.model.registry import (
    PARAMETERS,
    VALUE_LEARNERS,
    learner_with,
    parameters_with,
    variants,
)
from protonn_edge.system.errors import InputError

if TYPE_CHECKING:
    from protonn_edge.learn.learner import Learner
    from protonn_edge.model.features import Features


_OF_PARAMETERS = {"start_from": "initial_model"}  # options with parameters of another name
_SHARE = "_share"  # behind the name of a flag that may be a number, too


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
        rows, kinds = [], [_kind_of(name), *variants(name)]
        for parameter, declared in parameters_of(name).items():
            text = declared.help
            if "[default" not in text:
                kind = next(each for each in kinds if parameter in each.parameters)
                text += _default_text(getattr(kind, parameter))
            if not (declared.common and parameter in SharedParameters.parameters):
                rows.append((row(own[parameter], ctx)[0], text))
            if share := own.get(parameter + _SHARE):
                rows.append(row(share, ctx))
        with formatter.section(f"--classifier {name}"):
            formatter.write_dl(rows)


def _default_text(default: object) -> str:
    if default is None:
        return ""
    text = ",".join(default) if isinstance(default, tuple) else str(default)
    return f"  [default: {text.lower() if isinstance(default, bool) else text}]"


def parameters_of(classifier: str) -> dict[str, Parameter]:
    """Return the parameters of a kind that the command line can give, with its variants'."""
    found = dict[str, Parameter]()
    for kind in (_kind_of(classifier), *variants(classifier)):
        for name, declared in kind.parameters.items():
            if declared.help:
                found.setdefault(name, declared)
    return found


def _kind_of(classifier: str) -> type[SharedParameters]:
    parameters: type[SharedParameters] = PARAMETERS.get(classifier, SharedParameters)
    return parameters


class _Kinds(click.Choice[str]):
    """Kinds of models; the message about another one leads on."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the kind, or fail."""
        from protonn_edge.system.meant import did_you_mean

        if value not in self.choices:
            near = did_you_mean(str(value), self.choices)
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
    options: Mapping[str, Any]  # values by the names of parameters

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that are given; refuse those of other kinds.

        A window without features is one for which features are found, as of a file of windows.
        """
        given = {name: value for name, value in self.options.items() if was_given(name)}
        for name in [*given, *filter(was_given, _OF_PARAMETERS)]:
            parameter = _OF_PARAMETERS.get(name, name)
            has = parameter in _kind_of(self.name).parameters
            if not has and parameter not in parameters_of(self.name):
                flag = flags()[name]
                raise InputError(
                    f"{flag} is given, but the classifier {self.name!r} has no such parameter; "
                    f"omit {flag}, or choose --classifier {' or '.join(_kinds_with(parameter))}"
                )
        is_kind = self.name in PARAMETERS
        if is_kind and parameters_with(self.name, given) is None:
            own = _kind_of(self.name).parameters
            first, second = [flags()[name] for name in given if name not in own][:2]
            raise InputError(f"{first} and {second} cannot be used together; give only one of them")
        may_be_image = not is_kind and "image_shape" in given
        if "window_shape" in given and not may_be_image and not was_given("start_from"):
            given.setdefault("features", "auto")
        if str(given.get("features")).endswith(".npz"):
            given["features"] = _features_of(Path(given["features"]))
        return given

    @property
    def is_open(self) -> bool:
        """Whether a training may take another kind: neither one nor an option of one is given."""
        of_features = FeatureParameters.parameters
        given = was_given("classifier") or was_given("start_from")
        return not given and all(name in of_features for name in self.parameters())

    def check(self, *, in_groups: bool) -> None:
        """Refuse parameters that exclude each other, before points are read; import no training."""
        parameters = self.parameters()
        if self.name not in PARAMETERS or was_given("start_from"):
            return
        kind = parameters_with(self.name, parameters)
        from protonn_edge.learn.refusals import check_parts
        from protonn_edge.learn.training_request import TrainingRequest

        settings = kind(**parameters).frozen()
        given = frozenset(filter(was_given, flags()))
        case = TrainingRequest(settings=settings, predicts=None, in_groups=in_groups, given=given)
        settings.refuse(case)
        check_parts(case)

    def untrained(self, seed: int, estimator: str = "Classifier") -> Learner:
        """Return a classifier or a regressor of this kind with these parameters, and a seed."""
        parameters = self.parameters()
        if estimator == "Classifier":
            kind = learner_with(self.name, parameters)
        else:
            self.check_regressor()
            kind = VALUE_LEARNERS[self.name]
        made: Learner = kind(random_state=seed, **parameters)
        return made

    def check_regressor(self) -> None:
        """Refuse a kind that does not predict numbers, and parameters of classes."""
        if self.name not in PARAMETERS:
            return
        if self.name not in VALUE_LEARNERS:
            raise InputError(
                f"the kind {self.name!r} cannot predict a number, but the labels are numbers; "
                f"choose --classifier {' or '.join(VALUE_LEARNERS)}, or train with --target class"
            )
        own = VALUE_LEARNERS[self.name].parameters
        if strange := next((each for each in self.parameters() if each not in own), ""):
            flag = flags()[strange]
            raise InputError(f"{flag} is for points of one class each; leave {flag} out")


def classifier_options(kinds: Sequence[str], shown: Collection[str] | None = None) -> Any:
    """Declare ``--classifier``, and options of all parameters, of which the help shows some."""
    kind = option(
        f"The kind of model: {', '.join(kinds)}; with --help, list its options.  [default: "
        f"{kinds[0]}]",
        _Kinds(kinds),
        metavar="KIND",
        default=kinds[0],
        is_eager=True,
    )

    def of_parameters(every: Mapping[str, Parameter]) -> Any:
        parts = {
            name: _option_of(
                name, each, hidden=not (each.common and (shown is None or name in shown))
            )
            for name, each in every.items()
            if each.help
        }
        return together(
            lambda classifier, **options: GivenClassifier(classifier, options),
            {"classifier": kind, **parts},
        )

    def of_all_kinds() -> Any:
        return of_parameters(
            {name: each for kind in PARAMETERS for name, each in parameters_of(kind).items()}
        )

    return replace(of_parameters(_kind_of(kinds[0]).parameters), extended=of_all_kinds)


def flags_of(name: str, declared: Parameter) -> list[str]:
    """Return the option of a parameter, and that for the share of a flag that may be a number.

    The first one includes what turns a flag off, as in ``--augment/--no-augment``.
    """
    words, is_flag = name.replace("_", "-"), "boolean" in declared.values
    flag = declared.option or (f"--{words}/--no-{words}" if is_flag else f"--{words}")
    has_share = is_flag and Number in map(type, declared.values)
    return [flag, f"{flag.partition('/')[0]}-share"] if has_share else [flag]


def _option_of(name: str, declared: Parameter, *, hidden: bool) -> Declared:
    """Declare the option of a parameter, and one for the share of a flag that may be a number."""
    flag, *shares = flags_of(name, declared)
    whole: Declared = option(declared.help, type_of(declared), flag=flag, hidden=hidden)
    if not shares:
        return whole
    numbers = next(each for each in declared.values if type(each) is Number)
    text = f"The same with a share, in place of {flag.partition('/')[0]}."
    part: Declared = option(text, _range(numbers), flag=shares[0], hidden=True)

    def value(name: str, given: Mapping[str, Any]) -> Any:
        share = given[name + _SHARE]
        return whole.value(name, given) if share is None else share

    return Declared(lambda name: [*whole.parameters(name), *part.parameters(name + _SHARE)], value)


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


def type_of(declared: Parameter) -> click.ParamType[Any]:
    """Return the type of a parameter on the command line: the type of its first values there."""
    if "boolean" in declared.values:
        return click.BOOL
    types = (_TAKING[type(each)](each) for each in declared.values if type(each) in _TAKING)
    first = click.STRING if str in declared.values else next(types)
    return _OrAuto(first) if AUTO in declared.values else first


def _kinds_with(parameter: str) -> list[str]:
    return [kind for kind in PARAMETERS if parameter in parameters_of(kind)]


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
    """Return whether an option is given on the command line."""
    source = click.get_current_context().get_parameter_source
    return any(
        source(each) not in (ParameterSource.DEFAULT, None) for each in (name, name + _SHARE)
    )


def flags() -> dict[str, str]:
    """Return the command-line names of options by their Python names."""
    context = click.get_current_context()
    options = {str(each.name): each.opts[0] for each in context.command.get_params(context)}
    shares = {name.removesuffix(_SHARE): flag for name, flag in options.items() if was_given(name)}
    return options | shares
