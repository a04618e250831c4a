"""Sensors: the known ones, and recordings that the emulated board plays."""

from __future__ import annotations

from protonn_edge.sensors.described import sensor_kind
from protonn_edge.sensors.instruments import Instrument
from protonn_edge.sensors.kinds import MICROPHONE, SensorKind
from protonn_edge.sensors.packing import packed_sensors
from protonn_edge.sensors.played import PlayedSensor, check_read, read_sensor, sensor_file

__all__ = [
    "MICROPHONE",
    "Instrument",
    "PlayedSensor",
    "SensorKind",
    "check_read",
    "packed_sensors",
    "read_sensor",
    "sensor_file",
    "sensor_kind",
]
