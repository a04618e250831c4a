"""Qoitech's Otii Arc and Ace, through the Otii program and its library ``otii_tcp_client``."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from protonn_edge.device.meters.meter import LONGEST_S, Meter, MeterSamples
from protonn_edge.system.lazy import require

_CHANNELS = _CURRENT, _VOLTAGE, _TRIGGER = "mc", "mv", "i1"
_MOST = 50_000 * LONGEST_S  # values of a channel
_LOW_RANGE_AMPERES = 0.019  # of an Arc


class Otii(Meter):
    """The first device of the Otii program at ``host:port``, by default on this computer."""

    NAME, TRIGGER = "Otii", "GPI 1"
    GAIN, OFFSET_AMPERES = 0.005, 200e-6  # assumed; see docs/power.md

    def _open(self) -> None:
        require("otii_tcp_client")
        from otii_tcp_client.otii_client import OtiiClient  # noqa: PLC0415  (an extra)

        host, _, port = self._place.partition(":")
        self._client = OtiiClient()
        otii = self._client.connect(
            host=host or "127.0.0.1", port=int(port or 1905), try_for_seconds=3
        )
        (self._device, *_) = otii.get_devices()
        self._project = otii.get_active_project()
        self._device.add_to_project()
        for channel in _CHANNELS:
            self._device.enable_channel(channel, True)

    def _close(self) -> None:
        self._client.disconnect()

    def _sample(self, ended: threading.Event) -> MeterSamples:
        self._project.start_recording()
        ended.wait(LONGEST_S)
        self._project.stop_recording()
        recording = self._project.get_last_recording()
        current, voltage, trigger = (self._channel(recording, name) for name in _CHANNELS)
        seconds, amperes = _series(current)
        levels = np.array([False, *(bool(each["value"]) for each in trigger["values"])])
        edges = np.array([each["timestamp"] for each in trigger["values"]])
        return MeterSamples(
            seconds,
            np.interp(seconds, *_series(voltage)),
            amperes,
            levels[np.searchsorted(edges, seconds, side="right")],
            ranges=np.abs(amperes) > _LOW_RANGE_AMPERES,
            dropped=0,  # the program reports none
        )

    def _channel(self, recording: Any, name: str) -> Any:
        count = recording.get_channel_data_count(self._device.id, name)
        if not (name != _TRIGGER) <= count <= _MOST:  # without a wire, there are no edges
            raise self._fault(f"sent {count:,} values of channel {name}")
        return recording.get_channel_data(self._device.id, name, 0, count)


def _series(channel: Any) -> tuple[Any, Any]:
    """Return the times and values of a channel."""
    values = np.array(channel["values"], np.float64)
    return channel["timestamp"] + channel["interval"] * np.arange(len(values)), values
