"""The program for chips of 32 bits: a plan of fast stages and, for some models, one in less flash.

Each stage is a function from an array to an array, so a prediction needs all inputs at once. The
templates that it shares with the AVR's program have that chip's words, which `plain` takes out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.context import float_context
from protonn_edge.codegen.kernels.in_templates import StageInTemplate
from protonn_edge.codegen.kernels.kernel import kernels_of
from protonn_edge.codegen.kernels.words import Words, words_of
from protonn_edge.codegen.plan import ENTRY_BYTES, PlannedStage, check_parts
from protonn_edge.model.integer_chain import IntegerChain, named_stages
from protonn_edge.system.extensions import parts_of
from protonn_edge.system.facts_repr import FactsRepr
from protonn_edge.system.schema import JsonObject

TEMPLATES = "words"
"""Their folder, in `templates/c`."""

_CODE_BYTES = 2_000  # of a program, about


@dataclass(frozen=True, eq=False)
class StageWords(StageInTemplate):
    """A stage with its constants and variables; `template` describes it, `code` computes it."""

    words: Words
    previous: StageWords | None = None


@dataclass(frozen=True, eq=False)
class WordPlan(FactsRepr):
    """A plan of a model for such a core; cycles are not predicted."""

    model: IntegerChain
    core: Core
    small: bool = False  # whether stages take less flash and more time, where they can
    limit_bytes: int | None = None  # flash that programs have; None if planned for no board

    kernel: ClassVar[str] = "words"
    steps: ClassVar[tuple[PlannedStage, ...]] = ()
    cycles: ClassVar[float | None] = None
    buffered: ClassVar[bool] = True

    @cached_property
    def stages(self) -> tuple[StageWords, ...]:
        """The stages, with their constants and variables."""
        made: list[StageWords] = []
        for name, stage in named_stages(self.model).items():
            kernel, previous = kernels_of(stage, self.core)[0], made[-1] if made else None
            made.append(StageWords(name, kernel, words_of(stage, small=self.small), previous))
        return tuple(made)

    @property
    def choices(self) -> dict[str, str]:
        """The same for every stage."""
        form = f"small {self.kernel}" if self.small else self.kernel
        return {each.n: form for each in self.stages}

    @property
    def unfolds(self) -> bool:
        """Whether trees become instructions."""
        return not self.small

    @property
    def chunk_features(self) -> int:
        """Firmware holds all features."""
        return self.model.n_features

    @property
    def table_bytes(self) -> int:
        """Flash of constant tables."""
        return sum(each.words.n_bytes for each in self.stages)

    @property
    def flash_bytes(self) -> int:
        """Approximate flash of a program with the model."""
        return self.table_bytes + _CODE_BYTES

    @property
    def between(self) -> tuple[int, int]:
        """Bytes of two arrays, which the stages write in turns."""
        sizes = [each.stage.n_outputs for each in self.stages[:-2]]
        return max(sizes[::2], default=0), max(sizes[1::2], default=0)

    @property
    def scratch_words(self) -> int:
        """Words of variables of one stage at a time."""
        return max(-(-each.words.scratch_bytes // 4) for each in self.stages)

    @property
    def state_bytes(self) -> int:
        """SRAM of variables."""
        scores = self.stages[-1].stage.n_inputs * self.stages[-2].stage.output.bits // 8
        arrays = self.model.n_features + sum(self.between)
        own = sum(each.words.own_bytes for each in self.stages)
        return ENTRY_BYTES + scores + arrays + 4 * self.scratch_words + own

    def facts(self) -> dict[str, str]:
        """Return the kernel."""
        return {"kernel": self.kernel}

    def to_json(self) -> JsonObject:
        """Return the kernel; cycles are not predicted."""
        return {"kernel": self.kernel}


def plan_for(model: IntegerChain, core: Core) -> WordPlan:
    """Return the fastest plan of a model; `InputError` if it has parts that need an AVR."""
    check_parts([part.name for part in parts_of(model) if not part.on_any_chip], core)
    return WordPlan(model, core)


def plans_for(model: IntegerChain, core: Core, limit_bytes: int | None = None) -> list[WordPlan]:
    """Return the plans of a model, the fastest first; `InputError` as `plan_for`."""
    fastest = replace(plan_for(model, core), limit_bytes=limit_bytes)
    smallest = replace(fastest, small=True)
    return [fastest, smallest] if smallest.flash_bytes < fastest.flash_bytes else [fastest]


def context(model: IntegerChain, plan: WordPlan) -> dict[str, object]:
    """Return the templates' variables, in addition to those of every program."""
    floats = float_context(model, plan)
    return {"stages": plan.stages, "parts": parts_of(model), **floats}


def plain(text: str, prefix: str) -> str:
    """Return a rendered file in plain C, without what only an AVR needs."""
    name = prefix.upper()
    text = re.sub(rf"^ *(?:{name}_FACT\(.*\);|//@ .*)\n", "", text, flags=re.MULTILINE)
    text = text.replace(f" {name}_FLASH", "")
    read = rf"\b{name}_READ_[A-Z0-9]+\((&?)([^()]*)\)"
    return re.sub(read, lambda found: f"{'' if found[1] else '*'}{found[2]}", text)
