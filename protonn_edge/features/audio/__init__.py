"""Sound: energies of bands over short frames, in integers, without storing samples."""

from __future__ import annotations

STAGES = {"audio": ""}
