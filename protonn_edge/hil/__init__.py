"""Hardware in the loop: talk to the firmware over a serial line and store its answers.

The link is a pyserial URL, so a board (``/dev/ttyACM0``), the emulated Uno
(``socket://127.0.0.1:PORT``) and anything else that carries bytes are treated alike.
"""

from __future__ import annotations

from protonn_edge.hil.comparison import Comparison, compare_devices
from protonn_edge.hil.connection import NoReplyError
from protonn_edge.hil.framing import ProtocolError
from protonn_edge.hil.link import LinkError
from protonn_edge.hil.results import (
    Origin,
    RecordedRun,
    Result,
    ResultsFile,
    Spread,
    Summary,
    check_is_results,
    read_origin,
    read_results,
    summarize,
)
from protonn_edge.hil.run import Run, Share, differs, run
from protonn_edge.hil.session import Prediction, Session

__all__ = [
    "Comparison",
    "LinkError",
    "NoReplyError",
    "Origin",
    "Prediction",
    "ProtocolError",
    "RecordedRun",
    "Result",
    "ResultsFile",
    "Run",
    "Session",
    "Share",
    "Spread",
    "Summary",
    "check_is_results",
    "compare_devices",
    "differs",
    "read_origin",
    "read_results",
    "run",
    "summarize",
]
