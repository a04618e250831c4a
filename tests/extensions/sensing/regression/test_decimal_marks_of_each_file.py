"""One telephone of a group may write decimal commas, and another one decimal points."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from protonn_edge.extensions.sensing.recordings.recorded import Recording, read_recording
from protonn_edge.system.errors import InputError

ROWS = [f"{number * 7 % 40 / 8:.4f};{-(number * 11 % 40) / 4:.3f}" for number in range(1, 40)]
POINTS = "\n".join(["x;y", *ROWS]) + "\n"
COMMAS = POINTS.replace(".", ",")


def read(folder: Path, **texts: str) -> Recording:
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
    return read_recording(folder)


@pytest.mark.parametrize("texts", [(POINTS, COMMAS), (COMMAS, POINTS)], ids=["comma", "point"])
def test_each_file_has_its_own_decimal_mark(tmp_path: Path, texts: tuple[str, str]) -> None:
    recording = read(tmp_path, run=texts[0], walk=texts[1])
    first, second = np.split(recording.samples, 2)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first[:2], [[0.875, -2.75], [1.75, -5.5]])
    said = [each.text for each in recording.dataset.notices if each.kind == "decimal_comma"]
    assert said == ["numbers in some files have decimal commas"]


def test_a_file_with_both_marks_is_refused(tmp_path: Path) -> None:
    mixed = POINTS + "0,5;0,75\n"
    with pytest.raises(InputError, match="walk.csv:41 .*has both decimal points and decimal comm"):
        read(tmp_path, run=COMMAS, walk=mixed)
