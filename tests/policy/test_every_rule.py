"""What holds for every kind of rule: a new folder of `protonn_edge.policy` is tested by existing.

`stored_models` makes a rule of its fields alone, and a model that may have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from any_order import build_on_host, check_calls, random_calls
from avr_tools import needs_emulated_avr
from command_line import run_json, succeed
from generated_programs import answers_in_bytes, compile_checked, predicting, printed_by_uno
from laws.conformance.checks import (
    assert_avr_agrees,
    assert_cycles_are_bounded,
    assert_host_agrees,
    run_of,
)
from laws.conformance.decision import instance_of
from laws.conformance.instances import Program
from model_factory import random_inputs, random_model, random_points
from stored_models import RULES, model_with, rules_of

from protonn_edge.codegen.planner import make_plan, plan_of
from protonn_edge.codegen.renderer import render_c
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.formulas import Arrays
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.policy import IntegerRule, with_rules, without_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.model.rule_kinds import rule_kinds
from protonn_edge.system.errors import InputError

PAIRS = list(combinations(RULES, 2))
_AROUND = 15  # cycles by which the compiler may save around what a rule adds
every_rule = pytest.mark.parametrize("name", RULES)


def programs_of(name: str) -> Iterator[Program]:
    """Yield programs of models with the rule, and with numbers that scores just reach."""
    chains = [quantize(model_with(rule)) for rule in rules_of(name)]
    Q = points_of(chains[0])
    for chain in (*chains, *on_the_edge(name, chains[0], Q)):
        yield Program(instance_of(name, chain, Q), make_plan(chain))


def points_of(chain: IntegerChain) -> np.ndarray:
    """Return points near prototypes, (n, D) uint8, and one far from all."""
    Q = chain.quantize(random_points(0, 24, chain.n_features))
    return np.concatenate([Q, random_inputs(8, 1, chain)])


def on_the_edge(name: str, chain: IntegerChain, Q: np.ndarray) -> Iterator[IntegerChain]:
    """Yield the chain with a whole number of its rule that the scores of a point equal."""
    scores = chain.scores(Q)
    scores = np.sort(scores[scores.argmax(axis=1) >= min(1, chain.n_classes - 1)], axis=1)
    largest, lead = scores[:, -1], scores[:, -1] - scores[:, -2:].min(axis=1)
    for rule in (each for each in chain.policy.rules if each.name == name):
        numbers = [each.name for each in fields(rule) if type(getattr(rule, each.name)) is int]
        compares = type(rule).judged is not IntegerRule.judged or rule.predicts == "labels"
        for field, reached in product(numbers if compares else [], (largest, lead)):
            edge = int(np.sort(reached)[len(reached) // 2])
            try:
                changed = with_rules(chain, replace(rule, **{field: edge}))
            except InputError:
                continue
            yield changed


@every_rule
def test_its_array_gives_it_back_or_is_refused(name: str) -> None:
    for rule in rules_of(name):
        array = rule.to_array()
        assert RULES[name].of_array(array) == rule
        for place in np.ndindex(array.shape):
            for odd in (np.nan, np.inf, -np.inf, -1.0, 1e308):
                damaged = array.copy()
                damaged[place] = odd
                assert_refused_or_given_back(RULES[name], damaged)
        for other in (array[:-1], np.append(array, 1.0), array[None], array.astype(str)):
            assert_refused_or_given_back(RULES[name], other)


def assert_refused_or_given_back(rule: Any, array: np.ndarray) -> None:
    try:
        found = rule.of_array(array)
    except InputError:
        return
    assert rule.of_array(found.to_array()) == found


@every_rule
def test_the_hash_has_what_changes_answers(name: str) -> None:
    for program in programs_of(name):
        chain, Q = program.instance.model, program.instance.points
        plain = without_rules(chain)
        hashed = any(each.hashed for each in chain.policy.rules)
        assert (plain.model_sha256 != chain.model_sha256) == hashed
        same = plain.policy.predicts == chain.policy.predicts
        assert hashed or (same and (plain.predict(Q) == chain.predict(Q)).all())


@every_rule
def test_commands_describe_a_model_with_it_and_without_it(name: str, tmp_path: Path) -> None:
    keys = next(kind.keys for kind in rule_kinds() if kind.name == name)
    absent = dict.fromkeys(keys)
    for rule in rules_of(name):
        model, path = model_with(rule), tmp_path / "model.npz"
        assert rule.described().keys() == absent.keys()
        save_model(model, path)
        assert run_json("inspect", path).items() >= rule.described().items()
        assert succeed("inspect", path).stdout
        save_model(without_rules(random_model()), path)
        assert run_json("inspect", path).items() >= absent.items()


@every_rule
def test_its_functions_and_answers_are_in_c_only_where_it_is(name: str) -> None:
    plain = "".join(render_c(without_rules(quantize(random_model()))).values())
    for program in programs_of(name):
        chain = program.instance.model
        header = render_c(chain, program.plan)["pnn_model.h"]
        for rule in chain.policy.rules:
            names = [f"pnn_{each}(" for each in rule.c_functions]
            names += [f"PNN_{each.constant}" for each in rule.other_answers]
            assert all(each in header for each in names)
            assert not any(each in plain for each in names)


@every_rule
def test_its_formula_is_what_it_judges_and_within_the_answers(name: str) -> None:
    for program in programs_of(name):
        stage, x = program.instance.stage, program.instance.inputs
        answers, largest = stage.run(x), x.argmax(axis=1)
        assert (answers >= stage.output.low).all()
        assert (answers <= stage.output.high).all()
        for rule in program.instance.model.policy.rules:
            nearest = np.arange(len(x)) * 255 // len(x)
            formula = rule.formula(
                Arrays(largest[:, None]),
                Arrays(x.astype(np.int64)),
                lambda nearest=nearest: Arrays(nearest[:, None]),
                stage.scores,
            )
            assert (formula.values[:, 0] == rule.judged(largest, x, nearest)).all()
            assert all(len(each) == len(x) for each in rule.figures(x).values())


@every_rule
def test_integers_answer_nearly_as_floats(name: str) -> None:
    for rule in rules_of(name):
        model, chain = model_with(rule), quantize(model_with(rule))
        X = random_points(0, 400, model.n_features)
        X = np.clip(X, model.inputs.lower, model.inputs.upper)
        scores = chain.scores(chain.quantize(X))
        if model.policy.predicts == "class":
            assert np.mean(chain.predict(chain.quantize(X)) == model.predict(X)) > 0.9
            continue
        exact, rounded = model.policy.values(model.scores(X)), chain.policy.values(scores)
        assert exact is not None
        assert rounded is not None
        assert np.mean(np.abs(rounded - exact.astype(float))) < 0.1 * exact.std()


@every_rule
def test_host_c_is_the_reference_whatever_is_called(name: str, tmp_path: Path) -> None:
    for number, program in enumerate(programs_of(name)):
        assert_host_agrees(program)
        chain, folder = program.instance.model, tmp_path / str(number)
        folder.mkdir()
        calls = random_calls(np.random.default_rng(0), chain, 100)
        check_calls(build_on_host(chain, program.plan, folder), chain, calls)


@needs_emulated_avr
@every_rule
def test_an_uno_is_the_reference_within_its_bounds(name: str, tmp_path: Path) -> None:
    program = next(programs_of(name))
    assert_avr_agrees(run_of(program))
    assert_cycles_are_bounded(run_of(program))
    chain, Q = program.instance.model, program.instance.points[:3]
    expected = b"".join(answers_in_bytes(chain, Q))
    elf = compile_checked(chain, predicting(Q), tmp_path, program.plan)
    assert printed_by_uno(elf, len(expected)) == expected


@needs_emulated_avr
@every_rule
def test_it_adds_the_cycles_that_plans_state(name: str) -> None:
    for program in programs_of(name):
        plain = without_rules(program.instance.model)
        others = plan_of(plain, program.plan.choices)
        planned = program.plan.cycles - others.cycles
        runs = run_of(program), run_of(Program(replace(program.instance, model=plain), others))
        with_it, without = (run.measured.cycles[: runs[0].known].astype(int) for run in runs)
        most = int((with_it - without).max())
        assert planned / 2 - _AROUND <= most <= planned, f"{most} cycles, {planned:.0f} planned"


@needs_emulated_avr
@every_rule
def test_a_library_with_it_passes_its_self_test(name: str, tmp_path: Path) -> None:
    save_model(model_with(rules_of(name)[0]), tmp_path / "model.npz")
    made = run_json("export", tmp_path / "model.npz", "--arduino", tmp_path / "library")
    assert (made["tried"]["mismatches"], made["tried"]["n"] > 0) == (0, True)


def of_pair(pair: tuple[str, str]) -> Model:
    return model_with(*(rules_of(name)[0] for name in pair))


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_beside_another_rule_it_works_or_is_refused(pair: tuple[str, str], tmp_path: Path) -> None:
    try:
        model = of_pair(pair)
    except InputError as refused:
        assert "\n" not in str(refused)  # noqa: PT017  (some pairs are refused)
        return
    save_model(model, tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").policy == model.policy
    chain: IntegerChain = quantize(model)
    assert {rule.name for rule in chain.policy.rules} == {*pair}
    instance = instance_of(str(pair), chain, points_of(chain))
    assert_host_agrees(Program(instance, make_plan(chain)))


def test_some_rules_work_beside_each_other() -> None:
    def works(pair: tuple[str, str]) -> bool:
        try:
            return len(of_pair(pair).policy.rules) == 2
        except InputError:
            return False

    assert any(map(works, PAIRS))
