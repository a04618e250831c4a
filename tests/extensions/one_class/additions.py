"""What training on one class adds to tables of the core's tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "options in pairs": {"--one-class": {"one_class": True}},
}
