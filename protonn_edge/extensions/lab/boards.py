"""Boards under test, each locked while tests of one process use it, and the record of their line.

The lock is a file in a folder that all users of a machine share. It ends with its process.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.chips.boards import Board
from protonn_edge.chips.emulator import EmulatedBoard
from protonn_edge.chips.toolchain.platformio import build_firmware
from protonn_edge.codegen.export.folder import LIVE, check_project, written_in
from protonn_edge.codegen.families import family_of
from protonn_edge.codegen.projects.folder import Project, nothing_built
from protonn_edge.codegen.verification.agreement import open_session
from protonn_edge.data.naming import NO_CLASS
from protonn_edge.device.connection import Host, Link
from protonn_edge.device.instruments import BenchInstrument
from protonn_edge.device.session import Session
from protonn_edge.learn.evaluation.measurement import Measurement, measure
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import CheckFailed, DeviceError, InputError
from protonn_edge.system.folders import InUse, try_lock

if TYPE_CHECKING:
    from protonn_edge.extensions.sensing.listener import Listener

_ASK_AGAIN_S = 0.2
# TMPDIR may differ between users.
_LOCKS = Path("/tmp") if os.name == "posix" else Path(tempfile.gettempdir())  # noqa: S108


@contextlib.contextmanager
def held_port(urls: Sequence[str], wait_s: float) -> Iterator[str]:
    """Lock the first port that no other process uses, and yield its URL.

    Raises `DeviceError` if all ports stay in use for `wait_s` seconds.
    """
    end = time.monotonic() + wait_s
    while True:
        for url in urls:
            with contextlib.suppress(InUse):
                descriptor = _locked(url)
                break
        else:
            if time.monotonic() > end:
                raise DeviceError(
                    f"other tests used {', '.join(urls)} for {wait_s:g} s; name a board for "
                    "each test process with --pnn-port, or raise --pnn-wait"
                )
            time.sleep(_ASK_AGAIN_S)
            continue
        break
    try:
        yield url
    finally:
        os.close(descriptor)


def _locked(url: str) -> int:
    """Lock a port's file, and return its descriptor; raises `InUse` if it is locked already."""
    # A port may have several names, such as those in /dev/serial/by-id.
    place = os.path.realpath(url) if os.path.exists(url) else url  # noqa: PTH110 - URLs too
    path = _LOCKS / f"protonn-edge-{hashlib.sha256(place.encode()).hexdigest()[:16]}.lock"
    try:
        # If temporary files are protected, only the owner of a file may open it "to create" it.
        if not path.exists():
            with contextlib.suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o644))
                path.chmod(0o644)  # for all users, regardless of the umask
        # Opening a pipe would wait for its other end.
        flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(path, os.O_RDONLY | flags)
    except OSError as error:
        remedy = "remove that file" if os.path.lexists(path) else f"make {path.parent} writable"
        raise DeviceError(f"cannot lock {url} with {path}: {error.strerror}; {remedy}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise DeviceError(
                f"cannot lock {url} with {path}, which is not a regular file; remove {path}"
            )
        try_lock(descriptor)
    except (InUse, DeviceError):
        os.close(descriptor)
        raise
    return descriptor


class BoardUnderTest:
    """A real or emulated board with a project's firmware, and an open session with it.

    Attributes
    ----------
    url : str
        The URL of its line, for pyserial.
    session : Session
        A session for single predictions, repetitions and the device's counters.
    """

    def __init__(self, url: str, reference: IntegerChain, session: Session) -> None:
        self.url = url
        self.session = session
        self._reference = reference

    def classify(self, X: ArrayLike) -> list[str]:
        """Return the board's class for each raw point X (n, D), or "unknown".

        Raises `DeviceError` if the board does not answer.
        """
        rows = self._reference.quantize(np.atleast_2d(np.asarray(X, np.float32)))
        labels = [self.session.predict(row).label for row in rows]
        names = self._reference.classes
        return ["unknown" if label == NO_CLASS else names[label] for label in labels]


@contextlib.contextmanager
def board_under_test(
    project: Project, board: Board, port: str | None, host: Host
) -> Iterator[BoardUnderTest]:
    """Open the board at a port, or the emulated board with the project's firmware.

    Raises `InputError` if the line cannot be opened or the firmware cannot be compiled,
    `DeviceError` if the board does not answer or has different firmware, and at the end
    `CheckFailed` if the emulated board had a fault, such as a write outside its memory.
    """
    reference = project.generated(board)[0]
    with contextlib.ExitStack() as stack:
        emulated = None
        if port is None:
            elf = project.linked(board) or project.compile(board)
            emulated = stack.enter_context(family_of(board).emulated(elf, board))
            port = emulated.url
        with open_session(port, reference, board, host=host) as session:
            yield BoardUnderTest(port, reference, session)
        if emulated is not None and emulated.stats().faults:
            raise CheckFailed(
                f"the firmware crashed on the emulated {board.name} "
                f"({', '.join(emulated.stats().faults)}); build the firmware again, and if it "
                "still crashes, report this as a bug"
            )


def measure_under_test(
    project: Project,
    points: tuple[NDArray[np.float32], NDArray[np.int64]],
    board: Board,
    ports: Sequence[str],
    host: Host,
    *,
    retries: int,
    fault: Callable[[str], None],
    instrument: BenchInstrument | None = None,
    values: Array | None = None,
) -> Measurement | CheckFailed:
    """Measure boards, again while they are at fault; see `measure`.

    - `ports`: ports of boards that share the points; none for the emulated board.
    - `retries`: how many times to repeat the measurement of a board at fault.
    - `fault`: called with each fault of a board that is measured again or passes its points on.
    - `instrument`: what measures the first board.
    - `values`: right answers that are no classes; see `measure`.

    Returns the failed check if there are no figures, for example for firmware over budget. Raises
    `DeviceError` if the board is still at fault, and `InputError` like `measure`.
    """
    while True:
        try:
            measurement = measure(
                project,
                points,
                board,
                ports=ports,
                host=host,
                instrument=instrument,
                values=values,
            )
            if measurement.device_fault is not None:
                raise measurement.device_fault
        except DeviceError as error:
            if retries == 0:
                raise
            fault(str(error))
            retries -= 1
        except CheckFailed as error:
            return error
        else:
            for share in measurement.shares:
                if share.loss is not None:
                    fault(
                        f"other boards took over the points of {share.device}, which was lost: "
                        f"{share.loss}"
                    )
            return measurement


def built_project(folder: Path) -> Project:
    """Return the project in a folder; raises `InputError` if it contains no model for points."""
    check_project(folder)
    project = Project(folder)
    if not project.built:
        raise nothing_built(folder, "--pnn-project")
    return project


def copied_project(folder: Path, place: Path) -> Path:
    """Copy a project's sources to a folder where they can be compiled separately."""
    for name in ("firmware", "boards", "include", "lib", "src"):
        if (folder / name).is_dir():
            shutil.copytree(folder / name, place / name)
    shutil.copy(folder / "platformio.ini", place)
    return place


@contextlib.contextmanager
def live_board(
    folder: Path,
    board: Board,
    port: str | None,
    played: Sequence[str],
    host: Host,
    copy: Path | None = None,
) -> Iterator[Listener]:
    """Open a board with the firmware of `build --sensor`, at a port or emulated.

    - `folder`: the project that the emulated board runs.
    - `played`: sensors of the emulated board with their recordings, ``NAME=FILE[,rate=HZ]``.
    - `copy`: an empty folder in which the project is compiled; by default, its own.

    Raises `InputError` if the folder has no such project, or if a recording cannot be played or is
    from a sensor that the firmware does not read, and `DeviceError` if the board does not identify
    itself.
    """
    emulated = port is None
    if played and not emulated:
        raise InputError("--pnn-sensor needs the emulated board; omit --pnn-sensor or --pnn-port")
    with contextlib.ExitStack() as stack:
        from protonn_edge.extensions.sensing.listener import Listener
        from protonn_edge.extensions.sensing.played import check_read, read_sensor

        sensors = [read_sensor(each) for each in played]
        if port is None:
            if written_in(folder).kind != LIVE:
                raise InputError(
                    f"{folder} has no firmware that reads a sensor; run `protonn-edge build "
                    "--sensor`, and use --pnn-project to name the folder that it wrote"
                )
            sources = folder if copy is None else copied_project(folder, copy)
            elf = build_firmware(sources, board.environment)
            port = stack.enter_context(EmulatedBoard(elf, board=board, sensors=sensors)).url
        line = stack.enter_context(contextlib.closing(host.open(port, board.baud)))
        listener = Listener(line, port)
        listener.wait()
        check_read(sensors, listener.description.sensors, emulate=emulated)
        yield listener


_KEPT = 100  # number of latest entries, at most 4 kB each
_SHOWN_BYTES = 64  # bytes shown of an entry


class LoggingHost(Host):
    """A host that records the latest bytes of all lines that it opens."""

    def __init__(self) -> None:
        self._began = self.now()
        self._entries: deque[tuple[float, str, bytes]] = deque(maxlen=_KEPT)

    def open(self, url: str, baud: int) -> Link:
        """Return an open line; raises `LinkError` if this fails."""
        self.note("opened", url.encode())
        return _LoggedLink(url, baud, self)

    def note(self, what: str, data: bytes) -> None:
        """Record an entry with the current time."""
        self._entries.append((self.now() - self._began, what, data))

    @property
    def text(self) -> str:
        """The entries, one per line: seconds, direction, and bytes in hexadecimal."""
        return "\n".join(
            f"{at:10.4f} {what} {_shown(what, data)}" for at, what, data in self._entries
        )


def _shown(what: str, data: bytes) -> str:
    if what == "opened":
        return data.decode(errors="replace")
    more = f" and {len(data) - _SHOWN_BYTES} more" if len(data) > _SHOWN_BYTES else ""
    return data[:_SHOWN_BYTES].hex(" ") + more


class _LoggedLink(Link):
    def __init__(self, url: str, baud: int, log: LoggingHost) -> None:
        self._log = log
        super().__init__(url, baud)

    def read(self, wait_s: float) -> bytes:
        data = super().read(wait_s)
        if data:
            self._log.note("from the board", data)
        return data

    def write(self, data: bytes) -> None:
        if data:
            self._log.note("to the board  ", data)
        super().write(data)
