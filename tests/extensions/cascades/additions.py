"""What cascades add to tables of the core's tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from extensions.cascades.cascade_factory import random_cascade_model

ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "stored models": {"cascade": lambda: random_cascade_model(3)},
}
