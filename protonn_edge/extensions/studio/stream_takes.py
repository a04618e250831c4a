"""Takes of a logger's stream, and the classes of its windows, in the board's integers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.sensing.recorder import Recorder, RecordingFile, Samples
from protonn_edge.extensions.sensing.sensor_projects import windowing_for
from protonn_edge.extensions.sensing.stream_classes import StreamClassifier
from protonn_edge.model.file import load_model
from protonn_edge.system.errors import InputError

_LISTEN_S = 0.05
_KEPT_S = 10.0  # of the latest samples
_DRAWN_HZ = 400.0  # samples a second and channel that the page gets; of more, the extremes


class StreamTakes:
    """Records takes of a `BoardStream` as they are ordered, and classifies its windows."""

    def __init__(self, line: Any) -> None:
        self._line, self._tell = line, line.tell
        self._file: RecordingFile | None = None
        self._classifier: StreamClassifier | None = None
        self._latest: list[Samples] = []  # consecutive ones

    def listen(self, recorder: Recorder) -> None:
        """Listen to a logger until its stream is ended."""
        while True:
            self._line.obey(recorder)
            taken = len(recorder.takes)
            for samples in recorder.listen(_LISTEN_S):
                self._remember(samples, recorder.description.rate)
                self._show(recorder, samples)
            if len(recorder.takes) > taken or (self._file and recorder.take is None):
                self.close()
                ended = recorder.takes[-1] if recorder.takes else None
                self._tell(taken=asdict(ended) if ended else None, take=None)

    def _remember(self, samples: Samples, rate: float) -> None:
        """Keep the latest samples, as long as none is missing between them."""
        if self._latest:
            last = self._latest[-1]
            if samples.first != last.first + len(last.values):
                self._latest = []
        self._latest.append(samples)
        while samples.first - self._latest[0].first > _KEPT_S * rate:
            self._latest.pop(0)

    def _show(self, recorder: Recorder, samples: Samples) -> None:
        take, stream = recorder.take, recorder.stream
        shown = _thinned(samples.values, recorder.description.rate)
        step = len(samples.values) / len(shown)
        now = None
        if take is not None:
            now = {"label": take.label, "kept": take.kept, "wanted": take.wanted}
            now["countdown"] = recorder.countdown_s if take.kept == 0 else 0.0
        lost = {"lost": stream.lost, "damaged": stream.torn, "resets": stream.resets}
        self._tell(
            samples=shown.tolist(), first=samples.first, n=len(samples.values), step=step, take=now,
            **lost,
        )  # fmt: skip
        if self._classifier is not None:
            for answer in self._classifier.feed(samples):
                self._tell(answer={"by": "computer", **asdict(answer)})

    def begin(
        self, path: Path, label: str, session: str, seconds: float | None, pause: float
    ) -> None:
        """Begin a take of a logger, after a pause."""

        def obey(recorder: Recorder) -> None:
            if recorder.take is not None:
                raise InputError("a take is being recorded; end it first")
            self.close()
            self._file = RecordingFile(path, recorder.description, session)
            recorder.record_to(self._file)
            recorder.begin(label, seconds, pause)
            begun = {"label": label, "session": session, "seconds": seconds}
            self._tell(begun={**begun, "pause": f"{pause:g}"})

        self._line.order(obey)

    def keep(self, path: Path, label: str, session: str, seconds: float) -> None:
        """Make a take of the latest samples."""

        def obey(recorder: Recorder) -> None:
            if recorder.take is not None:
                raise InputError("a take is being recorded; end it first")
            if not self._latest:
                raise InputError("no samples have arrived yet; wait a moment")
            rate = recorder.description.rate
            values = np.concatenate([each.values for each in self._latest])
            values = values[-max(1, round(min(seconds, _KEPT_S) * rate)) :]
            self.close()
            self._file = file = RecordingFile(path, recorder.description, session)
            with closing(self):
                file.begin_take()
                file.append(label, file.begin_s + np.arange(len(values)) / rate, values)
            self._tell(taken={"label": label, "kept": len(values)})

        self._line.order(obey)

    def end(self, *, discard: bool = False) -> None:
        """End the current take, or remove it."""

        def obey(recorder: Recorder) -> None:
            if recorder.take is None:
                raise InputError("no take is being recorded; delete one in the list")
            if discard:
                recorder.discard()
                self._tell(taken=None, take=None)
            else:
                recorder.end()

        self._line.order(obey)

    def classify(
        self, model_file: Path | None, hop: int | None, votes: int, marks: Sequence[tuple[str, int]]
    ) -> None:
        """Compute the classes of a model from the samples, or stop it."""

        def obey(recorder: Recorder) -> None:
            self._classifier = None
            if model_file is None:
                self._line.report(classes=[])
                return
            model, described = load_model(model_file), recorder.description
            sensors, board, rate = described.sensors, self._line.board, described.rate
            windowing = windowing_for(
                model, sensors, board, rate=rate, hop=hop, votes=votes, marks=marks
            )
            self._line.notice(windowing.notices)
            self._classifier = StreamClassifier(windowing)
            self._line.report(classes=[*model.classes], model=model_file.name)

        self._line.order(obey)

    def close(self) -> None:
        """Close the file, which other programs may then edit."""
        file, self._file = self._file, None
        if file is None:
            return
        file.__exit__(None, None, None)
        self._tell(changed=True)
        if file.saved is not None:
            self._tell(
                warning=f"another program replaced the recording; what it lacks is in {file.saved}"
            )


def _thinned(values: NDArray[np.int16], rate: float) -> NDArray[np.int16]:
    """Return samples, or the extremes of consecutive ones if there are many a second."""
    step = 2 * int(rate // _DRAWN_HZ)
    if step < 2 or len(values) < step:
        return values
    whole = values[: len(values) // step * step].reshape(-1, step, values.shape[1])
    return np.stack([whole.min(axis=1), whole.max(axis=1)], axis=1).reshape(-1, values.shape[1])
