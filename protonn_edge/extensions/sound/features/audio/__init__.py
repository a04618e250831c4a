"""Sound: energies of bands over short frames, in integers, without storing samples."""

from __future__ import annotations

from protonn_edge.model.entries import Requested

REQUESTS = (Requested("train.request:AudioRequest", 3),)
STAGES = {"audio": ""}
FUNCTIONS = {"audio": ("onset",)}
SMALLER = {"audio": ("fewer bands in --features",)}
