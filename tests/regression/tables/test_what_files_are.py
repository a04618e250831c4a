"""A file that is not the text its name promises is called what it is; so are odd names."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run
from refusals import refuses

ROWS = "label,a\n" + "".join(f"{'xy'[i % 2]},{i}\n" for i in range(20))


def zipped() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("data.csv", ROWS)
    return content.getvalue()


def an_array() -> bytes:
    content = io.BytesIO()
    np.save(content, np.eye(3))
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (ROWS.encode("utf-16"), "is text in UTF-16; save it as UTF-8"),
        (ROWS.encode("utf-16-le"), "seems to be text in UTF-16; save it as UTF-8"),
        (ROWS.encode("utf-32"), "UTF-32"),
        (("\ufeff" + ROWS).encode("utf-32-be"), "UTF-32"),
        (ROWS.encode("utf-16-be"), "seems to be text in UTF-16; save it as UTF-8"),
        (
            ROWS.encode() + "Fräse".encode("cp1252"),
            "(byte 0xe4 is invalid); save it in Excel as 'CSV",
        ),
        (gzip.compress(ROWS.encode(), mtime=0), "is compressed with gzip; unpack it"),
        (b"BZh9" + bytes(50), "is compressed with bzip2; unpack it"),
        (zipped(), "is a zip archive; name it .npz"),
        (an_array(), "is a numpy array"),
        (b"\xd0\xcf\x11\xe0" + bytes(50), "is an Excel file"),
        (b"1,2\n2,\0\0\n", "has null bytes and is not text"),
    ],
    ids=[
        "utf-16",
        "utf-16-le",
        "utf-32",
        "utf-32-be",
        "utf-16-be",
        "cp1252",
        "gzip",
        "bzip2",
        "zip",
        "npy",
        "xls",
        "null",
    ],
)
@pytest.mark.parametrize("name", ["data.csv", "data.txt"])
def test_a_file_is_called_what_it_is(tmp_path: Path, name: str, content: bytes, what: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert what in refusal(run("data", tmp_path / name))


def test_a_null_byte_in_a_name_is_a_usage_error() -> None:
    done = run("data", "a\0b.csv")
    assert done.exit_code == 2
    assert "contains a null byte" in done.stderr
    assert "\0" not in done.output


def test_a_line_feed_in_a_name_does_not_break_the_sentence() -> None:
    refuses(run("data", "a\nb.csv"), "system.files")


def test_a_very_long_name_is_shortened() -> None:
    sentence = refusal(run("data", "x" * 4_000 + ".csv"))
    assert len(sentence) < 600
    assert ".csv" in sentence


def test_control_characters_of_columns_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(
        "Unnamed: 0\x1b[2J,label,a\n" + "".join(f"{i},{i % 2},{i}\n" for i in range(20))
    )
    done = run("data", path)
    assert "\x1b" not in done.output
