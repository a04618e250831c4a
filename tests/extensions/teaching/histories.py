"""Random histories of teaching, on several executions at once: after each step all agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from extensions.teaching.serving import Serving

from protonn_edge.extensions.teaching import board as teaching
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.model.integer_chain import IntegerChain, coordinates

STEPS = 24
_OPERATIONS = ("learn", "predict", "restart", "forget", "forget all")
_SHARES = (0.55, 0.25, 0.1, 0.08, 0.02)


class History:
    """A model, what it was taught, and programs that were taught the same."""

    def __init__(self, model: IntegerChain, programs: Sequence[Serving], Q: np.ndarray) -> None:
        self.model, self.programs, self.Q = model, programs, Q
        last, room = teaching.teachable_stage(model)
        self.room, self.taught = room.room, Taught.nothing(last.n_inputs)
        self.point: np.ndarray | None = None

    def begin(self) -> None:
        """Forget all, and start."""
        self.taught, self.point = Taught.nothing(self.taught.points.shape[1]), None
        for program in self.programs:
            program.forget_all()
            program.start()

    def run(self, rng: np.random.Generator, steps: int) -> None:
        """Begin, do so many things, and compare."""
        self.begin()
        for _ in range(steps):
            self.step(rng)
        self.check()

    def step(self, rng: np.random.Generator) -> None:
        """Do something at random everywhere."""
        operation = str(rng.choice(_OPERATIONS, p=_SHARES))
        label = int(rng.integers(self.model.n_classes))
        if operation == "learn":
            self.predict(int(rng.integers(len(self.Q))))
            self.learn(label)
        elif operation == "predict":
            self.predict(int(rng.integers(len(self.Q))))
        elif operation == "restart":
            assert {program.start() for program in self.programs} == {len(self.taught)}
        elif operation == "forget":
            self.taught = self.taught.forget(label)
            for program in self.programs:
                program.forget(label)
        else:
            self.taught = Taught.nothing(self.taught.points.shape[1])
            for program in self.programs:
                program.forget_all()

    def check(self) -> None:
        """Compare counts and stores."""
        counts = self.taught.counts(self.model.n_classes).tolist()
        for program in self.programs:
            assert program.counts() == [len(self.taught), *counts]
            assert program.stored == self.taught

    def predict(self, row: int) -> None:
        """Compare the answers to a point."""
        Q = self.Q[row : row + 1]
        self.point = coordinates(self.model, Q)[0]
        classes, scores = teaching.with_taught(self.model, self.taught).answers(Q)
        for program in self.programs:
            assert program.predict(Q[0]) == (classes[0], scores[0].tolist())

    def learn(self, label: int) -> None:
        """Teach the last point; now and then, after another prediction has begun."""
        assert self.point is not None
        if label == 1:
            for program in self.programs:
                program.begin(self.Q[0])
        self.taught = self.taught.learn(self.point, label, self.room)
        for program in self.programs:
            assert program.learn(label) == 1
