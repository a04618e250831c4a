from protonn_edge.sensors.described import sensor_kind as sensor_kind
from protonn_edge.sensors.kinds import MICROPHONE as MICROPHONE
from protonn_edge.sensors.kinds import SensorKind as SensorKind
from protonn_edge.sensors.played import PlayedSensor as PlayedSensor
from protonn_edge.sensors.played import check_read as check_read
from protonn_edge.sensors.played import read_sensor as read_sensor
from protonn_edge.sensors.played import sensor_file as sensor_file
