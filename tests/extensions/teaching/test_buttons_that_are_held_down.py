"""Buttons of the sketches that teach: held down at the start, or two at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from extensions.teaching.test_sketches import (
    PRESSED,
    RELEASED,
    Script,
    learned,
    library,
    needs_compiler,
    simulated,
)

__all__ = ["library"]

pytestmark = needs_compiler


@pytest.mark.parametrize("example", ["TeachButtons", "TeachPresses"])
def test_a_button_that_is_held_down_at_the_start_is_not_pressed(
    library: Path,
    example: str,
    tmp_path: Path,
) -> None:
    script = Script([(0, 2, PRESSED), (900_000, 2, RELEASED)])
    assert learned(simulated(library, example, script, 4, tmp_path)) == []
    script.press(2, at_ms=4500)
    assert [count for _, count in learned(simulated(library, example, script, 8, tmp_path))] == [1]


def test_the_first_of_two_buttons_is_meant(library: Path, tmp_path: Path) -> None:
    script = Script()
    for first, other in ((2, 3), (3, 2)):
        at_ms = 500 if first == 2 else 4500
        script.press(first, at_ms, for_ms=1500)
        script.press(other, at_ms + 500, for_ms=500)
    printed = simulated(library, "TeachButtons", script, 8, tmp_path)
    assert [count for _, count in learned(printed)] == [1, 1]
