"""Ways to train ProtoNN, as settings: the core's, which is the default, and those of extensions."""

from __future__ import annotations

from typing import Any

from extension_parts import additions

OPTIMIZERS: dict[str, dict[str, Any]] = {"joint": {}, **additions("optimizers")}
LOSSES: dict[str, dict[str, Any]] = {"cross_entropy": {}, **additions("losses")}
