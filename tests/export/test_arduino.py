"""An exported Arduino library builds as the IDE builds it, and its self-test passes on the Uno."""

from __future__ import annotations
