from protonn_edge.extensions.sensing.described import sensor_kind as sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor as PlayedSensor
from protonn_edge.extensions.sensing.played import check_read as check_read
from protonn_edge.extensions.sensing.played import read_sensor as read_sensor
from protonn_edge.extensions.sensing.played import sensor_file as sensor_file
from protonn_edge.extensions.sensing.sensor_kinds import MICROPHONE as MICROPHONE
from protonn_edge.extensions.sensing.sensor_kinds import SensorKind as SensorKind
