"""Files of the reference implementation may have the line ends of another system."""

from __future__ import annotations

from pathlib import Path

from protonn_edge.extensions.conversion.protonn.reference import read_reference_model


def test_the_reference_implementations_files_may_have_them_too(tmp_path: Path):
    texts = {
        "W": "1\t2\n3\t4\n",
        "B": "1\t0\t2\n0\t1\t2\n",
        "Z": "1\t0\t0\n0\t1\t1\n",
        "gamma": "0.5\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.replace("\n", "\r\n").encode())
    read = read_reference_model(tmp_path)
    assert read.projection.tolist() == [[1, 2], [3, 4]]
