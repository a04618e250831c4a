"""Times such as 1e999 were refused without the name of their file, or read as gaps."""

from __future__ import annotations

from pathlib import Path

import pytest

from protonn_edge.datasets.recorded import read_recording
from protonn_edge.errors import InputError


@pytest.mark.parametrize("times", [["1e999"], ["-1e999"], ["1e999", "1e999"]])
def test_an_infinite_time_is_refused_with_its_file(times: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "takes"
    folder.mkdir()
    for name in ("still", "wave"):
        cells = [*map(str, range(20)), *(times if name == "wave" else []), "30"]
        rows = "".join(f"{time},{row % 7}\n" for row, time in enumerate(cells))
        (folder / f"{name}.csv").write_text(f"time,ax\n{rows}")
    with pytest.raises(
        InputError, match=r"wave\.csv:22 has the time '-?1e999' in column 'time', which is not"
    ):
        read_recording(folder)
