"""Test the harness against a failing line, hostile bytes and a killed host; and measure its speed.

    python benchmarks/harness.py [--only NAME] [--json]

prints the figures of each trial. A figure that misses the trial's requirement is marked with SHORT,
and the exit code is then 1. The device is the emulated Uno with a model of USPS (d = 10, m = 40; of
scikit-learn's digits where there is no USPS), which is trained for the occasion.

failing-link   10,000 points; each byte is dropped, flipped or doubled with a chance of 0.1 %, the
               device is reset 20 times and the line closed 5 times
random-bytes   4 MB of random bytes into the firmware, then HELLO
mutations      10,000 mutated valid frames into the firmware, HELLO after each
opens          200 times: open the port, shake hands, close it
kill           `protonn-edge hil` is killed with kill -9 in mid-run, three times, then resumed
wire-speed     points a second, as a share of what 115,200 baud can carry (an Uno's divider makes
               117,647 of them, so that the share may exceed 1)
free-running   seconds for all test points, as fast as this computer goes
four-boards    points a second on one board and on four, at wire speed, until two of the four are
               killed in mid-run

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from numpy.typing import NDArray
from presets import PRESETS
from printing import print_figures
from rows import Row

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from failing_link import FailingLink, Faults

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import build
from protonn_edge.codegen.verification.agreement import open_session
from protonn_edge.device import protocol
from protonn_edge.device.connection import Link
from protonn_edge.device.protocol import HelloReply, HelloRequest, StatsReply, StatsRequest
from protonn_edge.device.results import read_results
from protonn_edge.device.runner import ReferenceAnswers, Run, run
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import ProtoNNEdgeError

BAUD = load_board("uno").baud
BITS_PER_BYTE = 10
HELLO = protocol.DELIMITER + protocol.encode_message(HelloRequest(), 0)
DEADLINE_S = 30.0

Figures = dict[str, Any]


@dataclass(frozen=True)
class Subject:
    """What is run: a built firmware, its points as they are sent, the scores that they have."""

    name: str
    data: Path
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
    """Train the model and build its firmware in a folder."""
    preset = next(each for each in PRESETS if each.name == "usps10-small")
    row = Row("usps10", preset.file, preset.settings)
    dataset = row.dataset()
    if dataset is None:
        row = Row("digits", None, preset.settings)
        dataset = row.dataset()
        assert dataset is not None
    model, _ = row.train(dataset, seed=0)
    build(model, load_board("uno"), folder)
    project = Project(folder)
    reference = project.generated()[0]
    data = folder / "points.npz"
    X, y = dataset.X_test, dataset.y_test
    np.savez(data, X_train=X[:0], y_train=y[:0], X_test=X, y_test=y)
    Q = reference.quantize(X)
    return Subject(row.name, data, project, reference, Q, y, reference.scores(Q))


def outcome(done: Run, n: int) -> Figures:
    """Return what became of the points of a run."""
    indices = [result.index for result in done.results]
    return {
        "points": n,
        "lost": n - len({r.index for r in done.results if r.predicted is not None}),
        "answered_twice": len(indices) - len(set(indices)),
        "wrong": sum(result.mismatch is True for result in done.results),
    }


def nothing_lost(figures: Figures) -> bool:
    """Whether every point was answered once and rightly."""
    return not (figures["lost"] or figures["answered_twice"] or figures["wrong"])


# --- the trials: each returns its figures and whether they hold -----------------------------------


def failing_link(subject: Subject) -> tuple[Figures, bool]:
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
    return figures, nothing_lost(figures) and happened and not faulty


def random_bytes(subject: Subject) -> tuple[Figures, bool]:
    """Send random bytes, then HELLO."""
    source, count = random.Random(0), 4_000_000
    with EmulatedUno(subject.elf) as uno, raw_line(uno) as device:
        begin = time.monotonic()
        for _ in range(count // 4000):
            device.link.write(source.randbytes(4000))
            device.skip()
        device.link.write(protocol.DELIMITER)
        answered = device.says_hello()
        stats = device.ask(StatsRequest())
        assert isinstance(stats, StatsReply)
        figures = {
            "bytes": count,
            "hello_right_after": answered,
            "frames_dropped": stats.frames_dropped,
            "resets_meanwhile": stats.resets - 1,
            "seconds": round(time.monotonic() - begin, 1),
            "faults": list(uno.stats().faults),
        }
    return figures, answered and not figures["faults"] and not figures["resets_meanwhile"]


def mutations(subject: Subject) -> tuple[Figures, bool]:
    """Send mutated valid frames, with right and with wrong CRCs, and HELLO after each."""
    source, count = random.Random(1), 10_000
    rows = [row.tobytes() for row in subject.Q[:100]]
    unanswered = 0
    with EmulatedUno(subject.elf) as uno, raw_line(uno) as device:
        begin = time.monotonic()
        for _ in range(count):
            device.link.write(mutated(source, rows) + protocol.DELIMITER)
            unanswered += not device.says_hello()
        stats = device.ask(StatsRequest())
        assert isinstance(stats, StatsReply)
        figures = {
            "frames": count,
            "hello_unanswered": unanswered,
            "frames_dropped": stats.frames_dropped,
            "overruns": stats.overruns,
            "resets_meanwhile": stats.resets - 1,
            "seconds": round(time.monotonic() - begin, 1),
            "faults": list(uno.stats().faults),
        }
    bad = unanswered or figures["faults"] or figures["resets_meanwhile"] or figures["overruns"]
    return figures, not bad


def mutated(source: random.Random, rows: list[bytes]) -> bytes:
    """Return a valid request's frame with something done to it, before or after its CRC is made."""
    features = source.choice(rows)
    requests: list[protocol.Message] = [
        protocol.HelloRequest(),
        protocol.PredictRequest(features),
        protocol.ScoresRequest(features),
        protocol.StatsRequest(),
        protocol.RepeatRequest(source.randrange(1, 4), features),
    ]
    content = source.choice(requests)
    body = bytes([content.TYPE, source.randrange(1, 256)]) + content.payload()
    if source.random() < 0.5:
        return protocol.encode_frame(change(source, body, keep=4))
    return change(source, protocol.encode_frame(body), keep=0)


def change(source: random.Random, data: bytes, keep: int) -> bytes:
    """Return bytes with some flipped, lost, doubled, inserted or cut off; not the first `keep`."""
    out = bytearray(data)
    for _ in range(source.choice([1, 1, 2, 5])):
        if len(out) <= keep + 1:
            break
        at = source.randrange(keep, len(out))
        kind = source.randrange(5)
        if kind == 0:
            out[at] ^= 1 << source.randrange(8)
        elif kind == 1:
            del out[at]
        elif kind == 2:
            out.insert(at, out[at])
        elif kind == 3:
            out[at:at] = source.randbytes(source.choice([1, 3, 300]))
        else:
            del out[at + 1 :]
    return bytes(out)


def opens(subject: Subject) -> tuple[Figures, bool]:
    """Open the port again and again."""
    count, hellos = 200, 0
    with EmulatedUno(subject.elf) as uno:
        begin = time.monotonic()
        for _ in range(count):
            with open_session(uno.url, subject.reference):
                hellos += 1
        seconds = time.monotonic() - begin
    return {"opens": count, "handshakes": hellos, "seconds": round(seconds, 1)}, hellos == count


def kill(subject: Subject) -> tuple[Figures, bool]:
    """Kill the command that measures, and go on."""
    n, kills = len(subject.Q), 0
    results = subject.project.folder / "results.csv"
    with EmulatedUno(subject.elf) as uno:
        command = [
            *(sys.executable, "-c", "from protonn_edge.cli import main; main()"),
            *("hil", str(subject.data), "--port", uno.url, "-o", str(results), "--json"),
            *("--project", str(subject.project.folder), "--resume"),
        ]
        while kills < 3:
            started = lines_of(results)
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            while process.poll() is None and lines_of(results) < started + n // 10:
                time.sleep(0.005)
            if process.poll() is not None:
                raise ProtoNNEdgeError(f"hil ended early: {process.communicate()[1].decode()}")
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            kills += 1
        torn = sum(not line.endswith(b"\n") for line in results.read_bytes().splitlines(True))
        last = subprocess.run(command, capture_output=True, check=False)
        if last.returncode != 0:
            raise ProtoNNEdgeError(f"hil failed: {last.stderr.decode()}")
    indices = [result.index for result in read_results(results).results]
    record = json.loads(last.stdout)
    figures = {
        "points": n,
        "kills": kills,
        "torn_lines": torn,
        "lines": len(indices),
        "distinct": len(set(indices)),
        "mismatches": record["mismatches"],
        "lost": record["lost"],
    }
    whole = sorted(indices) == list(range(n))
    return figures, whole and not (record["mismatches"] or record["lost"])


def lines_of(path: Path) -> int:
    """Return how many lines a file has."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wire_speed(subject: Subject) -> tuple[Figures, bool]:
    """Measure how full the line is."""
    n = 500
    Q, y, expected = subject.points(n)
    frames = [len(protocol.encode_message(protocol.PredictRequest(q.tobytes()), 1)) for q in Q]
    carries = BAUD / BITS_PER_BYTE / np.mean(frames)
    figures: Figures = {"points": n, "line_carries_points_per_s": round(carries, 2)}
    with (
        EmulatedUno(subject.elf, wire_speed=True) as uno,
        open_session(uno.url, subject.reference) as session,
    ):
        for name, scores in (("predict", None), ("scores", expected)):
            done = run([session], Q, y, scores)
            (share,) = done.shares
            figures |= {
                f"{name}_points_per_s": round(share.points_per_s, 2),
                f"{name}_share_of_line": round(share.points_per_s / carries, 4),
            }
        figures |= {"sent_again": share.retried, "overruns": uno.stats().overruns}
    return figures, figures["predict_share_of_line"] >= 0.9


def free_running(subject: Subject) -> tuple[Figures, bool]:
    """Run all test points, with their scores, as fast as this computer goes."""
    with EmulatedUno(subject.elf) as uno, open_session(uno.url, subject.reference) as session:
        begin = time.monotonic()
        done = run([session], *subject.points(len(subject.Q)))
        seconds = time.monotonic() - begin
    figures = {**outcome(done, len(subject.Q)), "seconds": round(seconds, 2)}
    return figures, nothing_lost(figures) and seconds < 15


def four_boards(subject: Subject) -> tuple[Figures, bool]:
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
    return figures, figures["times"] >= 3.5 and nothing_lost(figures)


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


# --- a line without a session ---------------------------------------------------------------------


class Device:
    """Raw bytes to a device, messages from it."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self._splitter = protocol.FrameSplitter(2000)

    def skip(self) -> None:
        """Read what is there, and forget it."""
        while data := self.link.read(0):
            self._splitter.feed(data)

    def ask(self, request: protocol.Message, sequence: int = 0) -> protocol.Message | None:
        """Send one request, once, and return the reply with its number, None if none comes."""
        self.link.write(protocol.encode_message(request, sequence))
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            for frame in self._splitter.feed(self.link.read(end - time.monotonic())):
                try:
                    body = protocol.decode_frame(frame)
                except protocol.ProtocolError:
                    continue
                if body[:2] == bytes([request.TYPE | protocol.REPLY, sequence]):
                    return protocol.decode_message(body)
        return None

    def says_hello(self) -> bool:
        """Whether HELLO, said once, is answered."""
        return isinstance(self.ask(HelloRequest()), HelloReply)


@contextmanager
def raw_line(uno: EmulatedUno) -> Any:
    """Open the line of a board and wait until its firmware runs."""
    link = Link(uno.url, BAUD)
    try:
        device = Device(link)
        link.write(protocol.DELIMITER)
        if not device.says_hello():
            raise ProtoNNEdgeError("the emulated Uno does not answer; build its firmware again")
        yield device
    finally:
        link.close()


TRIALS: dict[str, Callable[[Subject], tuple[Figures, bool]]] = {
    "failing-link": failing_link,
    "random-bytes": random_bytes,
    "mutations": mutations,
    "opens": opens,
    "kill": kill,
    "wire-speed": wire_speed,
    "free-running": free_running,
    "four-boards": four_boards,
}


@click.command()
@click.option("--only", type=click.Choice(list(TRIALS)), help="One trial.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per trial.")
def main(only: str | None, as_json: bool) -> None:
    """Print what the harness stands."""
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        subject = make_subject(Path(scratch, "project"))
        for name, trial in TRIALS.items():
            if only not in (None, name):
                continue
            figures, holds = trial(subject)
            failed |= not holds
            print_figures(name, {"model": subject.name, **figures}, holds, as_json)
    sys.exit(failed)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
