"""A column of persons was played as a channel."""

from __future__ import annotations

from pathlib import Path

from protonn_edge.extensions.sensing.played import read_sensor


def test_a_column_of_persons_is_not_a_channel_of_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "light.csv"
    path.write_text("# rate: 100 Hz\nlight,person\n" + "5,anna\n6,ben\n")
    assert read_sensor(f"a0={path}").values.tolist() == [[5], [6]]
