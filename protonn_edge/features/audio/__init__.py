"""Sound: energies of bands over short frames, in integers, without storing samples."""

from __future__ import annotations

from protonn_edge.chain.entries import Feature

FEATURES = (Feature("audio", "stage", "AudioStage"),)
STAGES = {"audio": ""}
