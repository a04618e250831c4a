"""Jetperch's Joulescopes, through their library ``joulescope``."""

from __future__ import annotations

import threading

import numpy as np

from protonn_edge.device.meters.meter import LONGEST_S, Meter, MeterSamples
from protonn_edge.system.lazy import require

_RATE_HZ = 100_000
_FIELDS = ["current", "voltage", "current_lsb"]  # the last one is IN0


class Joulescope(Meter):
    """The only Joulescope at this computer, with automatic ranges."""

    NAME, TRIGGER = "Joulescope", "IN0"
    GAIN, OFFSET_AMPERES = 0.01, 200e-6  # assumed; see docs/power.md

    def _open(self) -> None:
        require("joulescope")
        from joulescope import scan_require_one  # noqa: PLC0415  (an extra)

        self._device = scan_require_one(config="auto")
        self._device.parameter_set("buffer_duration", LONGEST_S)
        self._device.open()
        self._device.parameter_set("sampling_frequency", _RATE_HZ)

    def _close(self) -> None:
        self._device.close()

    def _sample(self, ended: threading.Event) -> MeterSamples:
        self._device.start()
        ended.wait(LONGEST_S)
        self._device.stop()
        buffer = self._device.stream_buffer
        samples = buffer.samples_get(*buffer.sample_id_range, fields=_FIELDS)
        amperes, volts, trigger = (
            np.asarray(samples["signals"][name]["value"], np.float64) for name in _FIELDS
        )
        kept = np.isfinite(amperes) & np.isfinite(volts)  # lost samples are NaN
        return MeterSamples(
            (np.arange(len(amperes)) / self._device.output_sampling_frequency)[kept],
            volts[kept],
            amperes[kept],
            trigger[kept] > 0,
            ranges=trigger[kept],  # it may change with the load
            dropped=int((~kept).sum()),
        )
