"""The kernel of Gaussian naive Bayes: a loop over classes and features, with all inputs in SRAM."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from protonn_edge.chain.activity import Activity
from protonn_edge.kernels.kernel import HeldKernel
from protonn_edge.kernels.listing import Facts, Listing, Passed, repeated
from protonn_edge.kinds.naive_bayes import LOOP
from protonn_edge.kinds.naive_bayes.integers import IntegerNaiveBayes

_CODE_BYTES = 90  # flash around the loop
_SHORT = 256  # inputs that a byte can count


@dataclass(frozen=True, eq=False)
class NaiveBayesKernel(HeldKernel):
    """Adds up the terms of each class."""

    portable = 9.0  # on the emulated ATtiny85, three tables took 7 to 8.2
    around = 60
    changed = (0, *range(12, 28))  # registers, except Z and operands

    stage: IntegerNaiveBayes
    name: str = LOOP

    @cached_property
    def loop(self) -> Listing:
        """The instructions: Z points to the table, X to inputs and scores.

        r21:r18 is the score, r23:r22 a square, r17:r16 a weight, r15:r13 a term, r12 is 0, and
        r25:r24 counts inputs.
        """
        n = self.stage.n_inputs
        short = n <= _SHORT
        count = f"ldi r24, {n % _SHORT}" if short else f"ldi r24, lo8({n})\nldi r25, hi8({n})"
        return Listing(
            f"""
                clr  r12
            class:
                movw r26, %[values]
                {repeated(range(18, 22), "lpm r{0}, Z+")}
                {count}
            term:
                ld   r22, X+
                {repeated(range(self.stage.shift), "lsl r22")}
                lpm  r23, Z+ ; the mean
                sub  r22, r23
                brcc positive
                neg  r22
            positive:
                mul  r22, r22
                movw r22, r0
                lpm  r16, Z+ ; the weight
                lpm  r17, Z+
                mul  r22, r16
                mov  r13, r1 ; without the lowest byte
                mul  r23, r17
                movw r14, r0
                mul  r22, r17
                add  r13, r0
                adc  r14, r1
                adc  r15, r12
                mul  r23, r16
                add  r13, r0
                adc  r14, r1
                adc  r15, r12
                sub  r18, r13
                sbc  r19, r14
                sbc  r20, r15
                sbc  r21, r12
                {"dec  r24" if short else "sbiw r24, 1"}
                brne term
            classified:
                movw r26, %[scores]
                {repeated(range(18, 22), "st X+, r{0}")}
                movw %[scores], r26
                dec  %[classes]
                brne class
                clr  r1
            """
        )

    @property
    def facts(self) -> Facts:
        """How often its labels are passed."""
        classes, terms = self.stage.n_outputs, self.stage.n_outputs * self.stage.n_inputs
        return {"class": Passed(classes, classes), "term": Passed(terms, terms)}

    @property
    def cycles(self) -> int:
        """The cycles of the loop, the same for any input."""
        stage = self.stage

        def way(begin: str, end: str) -> int:
            return self.loop.path(begin, [end], {"term": 1, "class": 1})

        terms = way("term", "term") * stage.n_inputs - 1  # the last branch is not taken
        each = way("class", "term") + terms + way("classified", "class")
        return way("begin", "class") + each * stage.n_outputs  # `clr r1` replaces the last jump

    def assembly(self, _: Activity) -> float:
        """Return the cycles of the loop, which hardly vary."""
        return self.cycles

    @property
    def flash(self) -> tuple[int, int]:
        """Flash of the table and of the code."""
        return sum(map(len, self.stage.lines)), self.loop.code_bytes + _CODE_BYTES


kernels = NaiveBayesKernel.of
