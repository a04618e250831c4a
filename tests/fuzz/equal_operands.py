"""Layers, linear models and forests whose numbers are all the same, on the emulated Uno.

A compiler may put operands that are equal into one register. A case is a program of many small
models: its scores are the reference's, its cycles within the bounds of the plans. So ``make fuzz
ARGS="--only equal_operands --cases 1000"`` checks 10,000 models.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import dense_factory
import forest_factory
import linear_factory
import numpy as np
from avr_tools import EMULATED_AVR, skip_without
from checkout import CHECKOUT
from fuzz.mutation import pick
from generated_programs import printed_by_uno
from measured_predictions import FLAGS
from model_factory import random_inputs

from protonn_edge.chips.cores import UNO_CORE
from protonn_edge.codegen.kernels.kernel import kernels_of
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import plan_of
from protonn_edge.codegen.renderer import render_c, with_prefix
from protonn_edge.model.integer_chain import IntegerChain, named_stages
from protonn_edge.system.errors import InputError

BRIEF_CASES = 1

MODELS = 10
"""Models of a case."""

_MOST = 20  # of everything
_FLASH_BYTES = 5_500  # estimated of a model on average, with a firmware of its own
_POINTS = 4
_DEADLINE_S = 120
_MAIN = Path(__file__).with_suffix(".c")
_FIRMWARE = CHECKOUT / "firmware"


@dataclass(frozen=True)
class Made:
    """A model, a plan that holds its features, and points (n, features) uint8."""

    model: IntegerChain
    plan: Plan
    Q: np.ndarray

    @property
    def answer(self) -> np.dtype[np.void]:
        """The bytes of an answer."""
        score = f"<i{self.model.own_stages[-1].output.bits // 8}"
        fields = [("label", "u1"), ("cycles", "<u4"), ("again", "u1")]
        return np.dtype([*fields, ("scores", score, (self.model.n_classes,))])


def run_case(seed: int, folder: Path) -> None:
    """Check a program of models that are drawn one after the other."""
    skip_without(*EMULATED_AVR)
    rng = np.random.default_rng(seed)
    made = random_models(rng)
    sent = printed_by_uno(
        compiled(made, folder), sum(len(each.Q) * each.answer.itemsize for each in made)
    )
    for number, each in enumerate(made):
        size = len(each.Q) * each.answer.itemsize
        check_answers(f"model {number}", each, np.frombuffer(sent[:size], each.answer))
        sent = sent[size:]


def random_models(rng: np.random.Generator) -> list[Made]:
    """Return models that fit one program."""
    made: list[Made] = []
    flash = 0
    while len(made) < MODELS:
        drawn = random_model(rng)
        if flash + drawn.plan.flash_bytes <= _FLASH_BYTES * (len(made) + 1):
            made.append(drawn)
            flash += drawn.plan.flash_bytes
    return made


def random_model(rng: np.random.Generator) -> Made:
    """Return a model with as many of one thing as of another, and kernels of all kinds."""
    while True:
        try:
            model = pick(rng, (_network, _linear, _forest))(rng)
        except InputError:  # sums that are too large
            continue
        kernels = {
            name: pick(rng, [each.name for each in kernels_of(stage, UNO_CORE)])
            for name, stage in named_stages(model).items()
        }
        plan = plan_of(model, kernels)
        ends = np.array([[0], [model.inputs.maximum]]) * np.ones((1, model.n_features), np.int64)
        drawn = random_inputs(int(rng.integers(1 << 31)), _POINTS, model)
        return Made(model, plan, np.concatenate([drawn, ends]).astype(np.uint8))


def _network(rng: np.random.Generator) -> IntegerChain:
    equal, layers = int(rng.integers(2, _MOST)), int(rng.integers(1, 3))
    return dense_factory.random_chain(
        int(rng.integers(1 << 31)),
        features=_equal(rng, equal),
        hidden=(equal,) * layers,
        rows=_equal(rng, equal),
        bits=[int(pick(rng, (16, 24))), *[24] * layers],
        largest=[int(pick(rng, (3, 7, 12))), *(int(pick(rng, (7, 60))) for _ in range(layers))],
        multipliers=(equal,) * layers,
        maximum=int(pick(rng, (63, 255))),
    )


def _linear(rng: np.random.Generator) -> IntegerChain:
    equal = int(rng.integers(1, _MOST))
    return linear_factory.random_chain(
        int(rng.integers(1 << 31)),
        rows=equal,
        features=_equal(rng, equal),
        bits=int(pick(rng, (16, 24, 32))),
        largest=int(pick(rng, (7, 12, 127))),
        density=float(pick(rng, (0.2, 0.9))),
    )


def _forest(rng: np.random.Generator) -> IntegerChain:
    equal = int(rng.integers(2, _MOST))
    return forest_factory.random_chain(
        int(rng.integers(1 << 31)),
        trees=equal,
        features=_equal(rng, equal),
        depth=int(rng.integers(1, 4)),
        classes=equal,
        share=float(pick(rng, (0.0, 0.3))),
        vote=int(pick(rng, (0, 1, equal))),
    )


def _equal(rng: np.random.Generator, number: int) -> int:
    """Return the number, or now and then another one."""
    return number if rng.random() < 0.7 else int(rng.integers(2, _MOST))


def compiled(made: list[Made], folder: Path) -> Path:
    """Compile a program of models."""
    table = []
    for number, each in enumerate(made):
        for name, text in render_c(each.model, each.plan).items():  # templates are compiled once
            prefix = f"m{number}"
            (folder / with_prefix(name, prefix)).write_text(with_prefix(text, prefix))
        sizes = (
            len(each.Q),
            each.Q.shape[1],
            each.model.n_classes,
            each.model.own_stages[-1].output.bits // 8,
        )
        numbers = ", ".join(map(str, (number, *sizes, *each.Q.ravel().tolist())))
        table.append(f"MODEL({numbers})\n")
    (folder / "models.h").write_text("".join(table))
    sources = [_MAIN, _FIRMWARE / "cycle_counter.c", *sorted(folder.glob("*_model.c"))]
    paths = [f"-I{path}" for path in (_FIRMWARE, CHECKOUT / "tests/codegen", folder)]
    command = ["avr-gcc", "-pipe", *FLAGS, "-Wl,--gc-sections", *paths, *sources]
    elf = folder / "program.elf"
    subprocess.run([*command, "-o", elf], check=True, timeout=_DEADLINE_S, cwd=folder)
    return elf


def check_answers(name: str, made: Made, answers: np.ndarray) -> None:
    """Compare answers with the reference."""
    model, plan = made.model, made.plan
    labels, scores = model.answers(made.Q)
    shape = f"{name}, {', '.join(plan.choices.values())}, {made.Q.shape[1]} features"
    wrong = (answers["scores"] != scores).any(axis=1) | (answers["label"] != labels)
    assert not wrong.any(), f"{shape}: {wrong.sum()} of {len(wrong)} answers are wrong"
