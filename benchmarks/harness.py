"""What the harness stands: a failing line, and boards that are killed.

The device is the emulated Uno with a model of USPS, which is trained for the occasion. A trial
that misses what is asked is SHORT.

failing-link   10,000 points; each byte is dropped, flipped or doubled with a chance of 0.1 %, the
               device is reset 20 times and the line closed 5 times
four-boards    points a second on one board and on four, at wire speed, until two of the four are
               killed in mid-run
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from columns import Record
from failing_link import FailingLink, Faults
from kind_rows import USPS
from numpy.typing import NDArray
from protonn_rows import END_TO_END
from runner import Benchmark, Case

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import build
from protonn_edge.codegen.verification.agreement import open_session
from protonn_edge.device import protocol
from protonn_edge.device.runner import ReferenceAnswers, Run, run
from protonn_edge.model.integer_chain import IntegerChain


@dataclass(frozen=True)
class Subject:
    """What is run: a built firmware, its points as they are sent, the scores that they have."""

    project: Project
    reference: IntegerChain
    Q: NDArray[np.uint8]
    y: NDArray[np.int64]
    expected: NDArray[np.int64]

    @property
    def elf(self) -> Path:
        """The firmware."""
        return self.project.compile(load_board("uno"))

    def points(self, n: int) -> tuple[NDArray[np.uint8], NDArray[np.int64], ReferenceAnswers]:
        """Return n points, from the first on and again from the first, their classes and scores."""
        rows = np.arange(n) % len(self.Q)
        return self.Q[rows], self.y[rows], ReferenceAnswers(self.expected[rows])


def make_subject(folder: Path) -> Subject:
    """Train the model of USPS and build its firmware in a folder."""
    row = END_TO_END[1]
    dataset = row.dataset()
    build(row.train(dataset, seed=0), load_board("uno"), folder)
    project = Project(folder)
    reference = project.generated()[0]
    Q = reference.quantize(dataset.X_test)
    return Subject(project, reference, Q, dataset.y_test, reference.scores(Q))


def outcome(done: Run, n: int) -> Record:
    """Return what became of the points of a run."""
    indices = [result.index for result in done.results]
    return {
        "points": n,
        "lost": n - len({r.index for r in done.results if r.predicted is not None}),
        "answered_twice": len(indices) - len(set(indices)),
        "wrong": sum(result.mismatch is True for result in done.results),
    }


def nothing_lost(figures: Record) -> bool:
    """Whether every point was answered once and rightly."""
    return not (figures["lost"] or figures["answered_twice"] or figures["wrong"])


def failing_link(subject: Subject) -> Record:
    """Run points over a line that loses and garbles bytes, with resets and closed ports."""
    n = 10_000
    Q, y, expected = subject.points(n)
    sent = sum(len(protocol.encode_message(protocol.PredictRequest(q.tobytes()), 1)) for q in Q)
    places = np.random.default_rng(0).integers(0, sent, 25).tolist()
    each = 0.001 / 3
    faults = Faults(each, each, each, resets=tuple(places[:20]), closes=tuple(places[20:]))
    with (
        EmulatedUno(subject.elf) as uno,
        FailingLink(uno.port, faults, seed=1, reset=uno.reset) as link,
        open_session(link.url, subject.reference) as session,
    ):
        begin = time.monotonic()
        done = run([session], Q, y, expected)
        seconds = time.monotonic() - begin
        faulty = uno.stats().faults
    (share,) = done.shares
    figures = {
        **outcome(done, n),
        "sent_again": share.retried,
        "reopened": share.reopened,
        **vars(link.done),
        "seconds": round(seconds, 1),
        "faults": list(faulty),
    }
    happened = link.done.resets == 20 and link.done.closes == 5
    return figures | {"holds": nothing_lost(figures) and happened and not faulty}


def four_boards(subject: Subject) -> Record:
    """Share a run among four boards, and kill two of them in mid-run."""
    n = 800
    _, rate = run_on(subject, n // 4, boards=1)
    done, shared_rate = run_on(subject, n, boards=4, killed_after=n // 2)
    figures = {
        "one_board_points_per_s": round(rate, 2),
        "four_boards_points_per_s": round(shared_rate, 2),
        "times": round(shared_rate / rate, 3),
        "shares": [share.n for share in done.shares],
        "boards_lost": sum(share.loss is not None for share in done.shares),
        **outcome(done, n),
    }
    return figures | {"holds": figures["times"] >= 3.5 and nothing_lost(figures)}


def run_on(
    subject: Subject, n: int, *, boards: int, killed_after: int | None = None
) -> tuple[Run, float]:
    """Run points on boards at wire speed, of which the first two may be killed after some answers.

    Returns the answers, and their number per second until then.
    """
    arrivals: list[float] = []
    with ExitStack() as stack:
        unos = [
            stack.enter_context(EmulatedUno(subject.elf, wire_speed=True)) for _ in range(boards)
        ]
        sessions = [stack.enter_context(open_session(uno.url, subject.reference)) for uno in unos]

        def count(_: object) -> None:
            arrivals.append(time.monotonic())
            if len(arrivals) == killed_after:
                for uno in unos[:2]:
                    uno.__exit__(None, None, None)

        done = run(sessions, *subject.points(n), sink=count)
    alive = arrivals[:killed_after]
    return done, (len(alive) - 1) / (alive[-1] - alive[0])


def trial(case: Case) -> Record:
    """Return the figures of a trial, with a firmware of its own."""
    with TemporaryDirectory() as scratch:
        figures: Record = case.given(make_subject(Path(scratch, "project")))
        return figures


BENCHMARKS = {
    "harness": Benchmark(
        "What the harness stands.",
        (Case("failing-link", failing_link, USPS), Case("four-boards", four_boards, USPS)),
        measure=trial,
    ),
}
