"""What every stage must hold; `CHECKS` has all of them, each a function of a kind.

The arrays of a model file belong to the whole model, not to a stage: that damaged ones are refused
in one sentence is in `tests/model/test_model.py` and `tests/laws/fuzz/model_files.py`, for models
with each of these stages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from any_order import FINISH, build_on_host, check_calls, check_on_uno, random_calls, wrong_calls
from avr_tools import EMULATED_AVR, skip_without
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section
from generated_programs import (
    answers_in_bytes,
    assert_equal_to_reference,
    compile_checked,
    predicting,
    printed_by_uno,
)
from laws.conformance.instances import Instance, Program, instances_of, maker_of, programs_of
from measured_predictions import (
    OTHER_LEVELS,
    OWN_LEVEL,
    Measured,
    build_program,
    measure,
    model_object,
)
from stored_features import from_arrays, to_arrays
from worst_inputs import worst_inputs

from protonn_edge.chips.avr.paths import Paths
from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.families.avr.paths import prediction_paths, stated_facts
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.plan import Plan
from protonn_edge.model.formulas import NoFormula, arrays_of
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.integer_stage import IntegerStage
from protonn_edge.model.stored import digest, same
from protonn_edge.system.errors import CheckFailed
from protonn_edge.system.folders import scratch_folder

_MOST_ESTIMATED = 1.45  # times the cycles of a point that takes the most

UNO = load_board("uno")
_EFFORT = 0.01  # of the search for inputs that take long
_SEARCHED = 2
_CALLS = 300


def check_reference_is_the_formula(kind: str) -> None:
    """Compare `run` with plain Python loops."""
    for instance in instances_of(kind):
        assert_runs_as_the_formula(kind, instance.stage, instance.inputs)


def assert_runs_as_the_formula(kind: str, stage: IntegerStage, x: np.ndarray) -> None:
    """Compare `run`, and the formula, of inputs (n, n_inputs) with plain Python loops."""
    values = stage.run(x)
    assert values.shape == (len(x), stage.n_outputs)
    assert stage.run(x[:0]).shape == (0, stage.n_outputs)
    with suppress(NoFormula):
        assert (arrays_of(stage.formula, x) == values).all(), f"{kind} is faster, but differs"
    for point, given in zip(x.tolist(), values.tolist(), strict=True):
        expected = maker_of(kind).reference(stage, point)
        assert given == expected, f"{kind} makes {given} of {point}, the formula {expected}"


def check_range_is_proven(kind: str) -> None:
    """See that values stay within `output`, and reach its ends where it is more than a bound."""
    assert instances_of(kind)[0].reached, "the first instance must reach its range"
    for instance in instances_of(kind):
        assert_range_holds(instance, instance.stage)


def assert_range_holds(instance: Instance, stage: IntegerStage) -> None:
    """See that a stage's range holds for an instance."""
    x, low, high = instance.inputs, stage.output.low, stage.output.high
    assert low.shape == high.shape == (stage.n_outputs,)
    values = stage.run(x)
    inside = np.clip(values, low, high)
    if instance.limited:
        following = instance.model.stages[instance.place + 1]
        assert (following.run(inside) == following.run(values)).all(), "the limits change scores"
    else:
        assert (inside == values).all(), f"{stage.kind} leaves its range: {instance.name}"
    if instance.reached:
        assert (values.min(axis=0) == low).all(), f"{stage.kind} never is as low: {instance.name}"
        assert (values.max(axis=0) == high).all(), f"{stage.kind} never is as high: {instance.name}"


def check_hash_depends_on_every_number(kind: str) -> None:
    """Change each number of a stage, alone: the hash of its model is another one each time."""
    instance = instances_of(kind)[0]
    hashes = [digest(instance.stage), *(digest(each) for each in _changed(instance.stage))]
    assert len(hashes) > 1
    assert len(set(hashes)) == len(hashes)


def _changed(value: Any) -> Iterator[Any]:
    """Yield copies of a value with one number changed, whether a stage may have it or not."""
    if is_dataclass(value):
        for each in fields(value):
            for new in _changed(getattr(value, each.name)) if each.repr else ():
                other = copy(value)
                object.__setattr__(other, each.name, new)
                yield other
    elif isinstance(value, tuple):
        for place, each in enumerate(value):
            for new in _changed(each):
                yield (*value[:place], new, *value[place + 1 :])
    elif isinstance(value, np.ndarray):
        for place in {0, value.size - 1} if value.size else ():
            other = value.copy()
            other.flat[place] = _another(other.flat[place])
            yield other
    elif value is not None:
        yield _another(value)


def _another(value: Any) -> Any:
    """Return another number of the same type, or another text."""
    if isinstance(value, str):
        return f"{value}x"
    return value ^ True if isinstance(value, int | np.integer | np.bool_) else value + 1


def check_arrays_of_features_give_them_back(kind: str) -> None:
    """Compare the features that a stage is part of, or that come before it, with what is read."""
    for instance in instances_of(kind):
        features = instance.model.features
        if features is not None:
            assert same(from_arrays(to_arrays(features)), features), instance.name


def check_host_c_is_the_reference(kind: str) -> None:
    """Compare generated C under sanitizers, fed in all ways, with the reference."""
    skip_without("cc")
    for program in programs_of(kind):
        assert_host_agrees(program)


def assert_host_agrees(program: Program) -> None:
    """Compare the C of a program, whatever the parts in which points come."""
    model, Q = program.instance.model, program.instance.points
    try:
        with host_program(model, program.plan, sanitize=True) as host:
            assert_equal_to_reference(host, model, Q)
    except CheckFailed as error:
        raise AssertionError(f"{program.plan.choices}: {error}") from error


@dataclass(frozen=True)
class Compiled:
    """Bytes of a compiled model: its variables, the constants of its stages, all flash."""

    variables: int
    constants: int
    flash: int


@dataclass(frozen=True, eq=False)
class Run:
    """What a program did on the emulated Uno; the first `known` points are the instance's.

    Its bytes are looked up where it was compiled at the firmware's level of optimization.
    """

    program: Program
    Q: np.ndarray
    known: int
    measured: Measured
    paths: Paths  # through the linked program
    compiled: Compiled | None = None
    level: str = OWN_LEVEL


def check_emulated_avr_is_the_reference(kind: str) -> None:
    """Compare classes and scores on the emulated Uno with the reference."""
    for program in programs_of(kind):
        assert_avr_agrees(run_of(program))


@cache
def run_of(program: Program) -> Run:
    """Run a program on its points, and on some that take long."""
    skip_without(*EMULATED_AVR)
    model, Q = program.instance.model, program.instance.points
    known = len(Q)
    # The search is for prototypes; it finds nothing behind features of windows.
    if program.plan.of("prototypes"):
        longest = worst_inputs(model, program.plan, _SEARCHED, effort=_EFFORT)
        Q = np.concatenate([Q, longest])
    with scratch_folder() as folder:
        elf = build_program(model, program.plan, folder)
        linked = read_program(elf)
        paths = prediction_paths(linked, program.plan, UNO)
        facts = stated_facts(linked, program.plan, UNO)
        measured = measure(elf, model, Q, facts)
        return Run(program, Q, known, measured, paths, _compiled(model, folder))


def assert_avr_agrees(run: Run) -> None:
    """Compare what an Uno answered with the reference."""
    classes, scores = run.program.instance.model.answers(run.Q)
    choices = f"{run.program.plan.choices} at {run.level}"
    assert (run.measured.scores == scores).all(), f"other scores with {choices}"
    assert (run.measured.labels == classes).all(), f"other classes with {choices}"


def check_the_arduino_ides_level_is_the_reference(kind: str) -> None:
    """Compare scores, and cycles with the bound, where a project is compiled as the IDE does it."""
    _check_at(OTHER_LEVELS[0], programs_of(kind)[0])


def check_any_level_of_optimization_is_the_reference(kind: str) -> None:
    """Compare them at the highest level; programs other than the first take all levels in turns."""
    for number, program in enumerate(programs_of(kind)):
        _check_at(OTHER_LEVELS[number % len(OTHER_LEVELS) if number else -1], program)


def _check_at(level: str, program: Program) -> None:
    skip_without(*EMULATED_AVR)
    model, Q = program.instance.model, program.instance.points
    with scratch_folder() as folder:
        elf = build_program(model, program.plan, folder, level)
        paths = prediction_paths(read_program(elf), program.plan, UNO)
        run = Run(program, Q, len(Q), measure(elf, model, Q), paths, level=level)
    assert_avr_agrees(run)
    assert_cycles_are_bounded(run)


def check_ints_of_16_bits_hold_all(kind: str) -> None:
    """See that no signed integer overflows in the C for chips that cannot multiply."""
    skip_without(*EMULATED_AVR)
    program = programs_of(kind)[0]
    model, Q = program.instance.model, program.instance.points[:3]
    with scratch_folder() as folder:
        elf = compile_checked(model, predicting(Q), folder, program.plan)
        expected = b"".join(answers_in_bytes(model, Q))
        assert printed_by_uno(elf, len(expected)) == expected


def check_cycles_keep_to_the_plan(kind: str) -> None:
    """See that cycles are between the linked program's limits, and roughly those of the plan."""
    for program in programs_of(kind):
        assert_cycles_are_bounded(run_of(program))
        assert_cycles_are_estimated(program.plan, run_of(program))


def assert_cycles_are_bounded(run: Run) -> None:
    """Compare an Uno's cycles with the limits of the linked program."""
    low, high = int(run.measured.cycles.min()), int(run.measured.cycles.max())
    at, least, most = f"cycles at {run.level}", run.paths.shortest.cycles, run.paths.longest.cycles
    assert least <= low, f"{low:,} {at}, the shortest path has {least:,}"
    assert high <= most, f"{high:,} {at}, the longest path has {most:,}"


def assert_cycles_are_estimated(plan: Plan, run: Run) -> None:
    """Compare the most cycles of an Uno with those of a plan, for inputs that are never 0."""
    most = int(run.measured.cycles.max())
    stated = plan.cycles / most
    assert run.program.instance.estimated <= stated <= _MOST_ESTIMATED, (
        f"{run.program.instance.name}, {plan.choices}: {most:,} cycles at most, the plan says "
        f"{plan.cycles:,.0f}: {stated:.0%}"
    )


def check_bytes_are_what_is_compiled(kind: str) -> None:
    """See that variables take the bytes of the plan, and that no table is missing in it."""
    for program in programs_of(kind):
        assert_bytes_are_compiled(program.plan, run_of(program).compiled)


def _compiled(model: IntegerChain, folder: Path) -> Compiled:
    """Return the bytes of a model alone, as it was compiled for the program in a folder."""
    kinds = tuple(stage.kind for stage in model.stages)
    with model_object(folder).open("rb") as stream:
        file = ELFFile(stream)
        sections = [each for each in file.iter_sections() if each["sh_flags"] & SH_FLAGS.SHF_ALLOC]
        constants = sum(
            symbol["st_size"]
            for symbol in file.get_section_by_name(".symtab").iter_symbols()
            if symbol["st_info"]["type"] == "STT_OBJECT"
            and symbol.name.startswith(kinds)
            and _stays_in_flash(file.get_section(symbol["st_shndx"]))
        )
    flash = sum(each["sh_size"] for each in sections if _stays_in_flash(each))
    return Compiled(sum(each["sh_size"] for each in sections) - flash, constants, flash)


def _stays_in_flash(section: Section) -> bool:
    return section.name.startswith(".progmem") or section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR > 0


def assert_bytes_are_compiled(plan: Plan, found: Compiled) -> None:
    """Compare a plan's bytes with those of the compiled model."""
    assert found.variables == plan.state_bytes, (
        f"{plan.choices}: variables take {found.variables} B, the plan says {plan.state_bytes}"
    )
    assert found.constants <= plan.table_bytes <= found.flash, (
        f"{plan.choices}: constants take {found.constants} B, the plan says {plan.table_bytes}"
    )


def check_calls_in_any_order_are_safe(kind: str) -> None:
    """Make calls in any order, on the host under sanitizers and on the emulated Uno."""
    skip_without("cc", *EMULATED_AVR)
    program = programs_of(kind)[0]
    model, plan = program.instance.model, program.plan
    wrong = wrong_calls(program.instance.points)
    calls = [*wrong, *20 * [FINISH], *random_calls(np.random.default_rng(0), model, _CALLS)]
    with scratch_folder() as folder:
        check_calls(build_on_host(model, plan, folder), model, calls)
        check_on_uno(model, plan, wrong, folder)


CHECKS: tuple[Callable[[str], None], ...] = (
    check_reference_is_the_formula,
    check_range_is_proven,
    check_hash_depends_on_every_number,
    check_arrays_of_features_give_them_back,
    check_host_c_is_the_reference,
    check_emulated_avr_is_the_reference,
    check_the_arduino_ides_level_is_the_reference,
    check_ints_of_16_bits_hold_all,
    check_cycles_keep_to_the_plan,
    check_bytes_are_what_is_compiled,
    check_calls_in_any_order_are_safe,
)
"""What `test_stages` runs for every kind of the registry."""

AT_NIGHT = (check_any_level_of_optimization_is_the_reference,)
"""What it runs at night, too."""
