"""Times such as 1e999 were refused without the name of their file, or read as gaps."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import refused_by

from protonn_edge.datasets.recorded import read_recording


@pytest.mark.parametrize("times", [["1e999"], ["-1e999"], ["1e999", "1e999"]])
def test_an_infinite_time_is_refused_with_its_file(times: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "takes"
    folder.mkdir()
    for name in ("still", "wave"):
        cells = [*map(str, range(20)), *(times if name == "wave" else []), "30"]
        rows = "".join(f"{time},{row % 7}\n" for row, time in enumerate(cells))
        (folder / f"{name}.csv").write_text(f"time,ax\n{rows}")
    with refused_by("datasets.row_times"):
        read_recording(folder)
