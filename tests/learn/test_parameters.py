"""Parameters are declared once, and everything else follows from the declaration."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any

import numpy as np
import pytest
from command_line import every_command, run

from protonn_edge.cli.train_options import flags_of
from protonn_edge.learn.base import CLASSIFIERS, DeviceClassifier
from protonn_edge.learn.parameters import Number, SharedParameters
from protonn_edge.model.registry import ESTIMATORS, REGRESSORS

every_kind = pytest.mark.parametrize("kind", CLASSIFIERS.values(), ids=CLASSIFIERS)


def test_no_parameter_is_declared_in_two_places() -> None:
    declared: dict[str, set[int]] = {}
    for kind in CLASSIFIERS.values():
        for name, each in kind.parameters.items():
            declared.setdefault(name, set()).add(id(each))
    assert {name for name, places in declared.items() if len(places) > 1} == set()


@every_kind
def test_every_parameter_of_an_estimator_is_declared(kind: type[DeviceClassifier]) -> None:
    assert set(kind().get_params()) == set(kind.parameters)
    assert set(inspect.signature(kind).parameters) == set(kind.parameters)


@pytest.mark.parametrize("kind", [*ESTIMATORS.values(), *REGRESSORS.values()])
def test_a_number_beyond_its_ends_is_refused_with_its_name(kind: Any) -> None:
    X, y = np.eye(4), [0, 1, 0, 1]
    for name, declared in kind.parameters.items():
        numbers = [each for each in declared.values if isinstance(each, Number)]
        if not numbers:
            continue
        low, high = (end for end in (min(each.low for each in numbers), numbers[0].high))
        assert high is not None or name in ("budget", "size_budget"), f"{name} has no end"
        for value in (low - 1, high and 2 * high + 1, np.nan, np.inf, "many"):
            if value is not None:
                with pytest.raises(ValueError, match=f"The '{name}' parameter of "):
                    kind(**{name: value}).fit(X, y)


@every_kind
def test_no_estimator_has_more_than_30_parameters_of_its_own(kind: type[DeviceClassifier]) -> None:
    assert len(kind.parameters.keys() - SharedParameters.parameters.keys()) <= 30


@every_kind
def test_the_docstring_describes_every_parameter_and_its_default(
    kind: type[DeviceClassifier],
) -> None:
    section = (kind.__doc__ or "").split("Parameters\n----------\n")[1]
    described = {
        name: line
        for line in re.findall(r"(?m)^(\w[\w, ]* : .*)$", section)
        for name in line.partition(" : ")[0].split(", ")
    }
    assert kind.parameters.keys() <= described.keys()
    for name in kind.parameters:
        default = re.search(r"default=(.*)$", described[name])
        if default is not None:
            assert ast.literal_eval(default[1]) == getattr(kind, name)


def test_help_is_short_and_a_kinds_help_has_the_rest() -> None:
    text = run("train", "--help").stdout
    assert len(text.splitlines()) <= 92
    assert len(re.findall(r"(?m)^  -", text)) <= 38
    assert len(run("tune", "--help").stdout.splitlines()) <= 66
    for name, kind in CLASSIFIERS.items():
        for words in (("--classifier", name, "--help"), ("--help", "--classifier", name)):
            shown = text + run("train", *words).stdout
            for parameter, declared in kind.parameters.items():
                said = flags_of(parameter, declared)[0].split("/")[0]
                assert not declared.help or said in shown, parameter


def test_every_option_of_train_is_the_parameter_of_that_name() -> None:
    parameters = {
        name: each for kind in CLASSIFIERS.values() for name, each in kind.parameters.items()
    }
    options = {param.name: param for param in every_command()["train"].params}
    with_option = {name: each for name, each in parameters.items() if each.help}
    assert with_option.keys() <= options.keys()
    for name, declared in with_option.items():
        assert flags_of(name, declared)[0].split("/")[0] in options[name].opts
