"""Tables that people have."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chains import replace
from command_line import refusal, run, succeed
from evidence_factory import evidence_of
from fake_device import HostileDevice
from model_factory import random_model
from refusals import refused_by, refuses
from simulated_run import N, honest_model, measure_on

from protonn_edge.chips.boards import load_board
from protonn_edge.cli.command import Output
from protonn_edge.cli.report import _given
from protonn_edge.data.options import TableOptions
from protonn_edge.data.points.expected import Expected
from protonn_edge.data.reading import load_dataset, load_points
from protonn_edge.data.tables import text
from protonn_edge.device.results import read_results
from protonn_edge.learn.search.limits import TuningLimits
from protonn_edge.learn.search.objective import Objective
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.model.file import load_model
from protonn_edge.report.answers import mistake_panels

# Tuning with gaps: what filled them was learned on all rows, those of the tested fold included.


def test_folds_fill_gaps_by_the_rows_that_they_train_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        f"{'' if row % 4 == 0 else row * row % 97},{row % 5},{'ab'[row % 2]}" for row in range(20)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["x,z,label", *rows]) + "\n")
    dataset = load_dataset(tmp_path / "t.csv", missing="median")
    folds = np.arange(20) // 10
    points = TrialPoints(
        dataset.X_train, dataset.y_train, folds, load_board("uno"), TuningLimits(),
        gaps=dataset.gaps, preparation=dataset.preparation,
    )  # fmt: skip
    seen: dict[str, Any] = {}

    class Spy:
        model_ = None

        def fit(self, X: Any, *_: Any, **__: Any) -> None:
            seen.update(X=X)

        def quantize(self, X: Any) -> None:
            seen.update(tested=X)
            raise ValueError("enough")

    monkeypatch.setattr(TrialPoints, "untrained", lambda *_: Spy())
    monkeypatch.setattr("protonn_edge.learn.search.objective.quantize", lambda _: Spy())
    with pytest.raises(ValueError, match="enough"):
        Objective(SearchSpace(points)).test_fold(0, {})
    known = [row * row % 97 for row in range(10, 20) if row % 4]
    assert seen["X"][2, 0] == seen["tested"][0, 0] == np.median(known)
    assert dataset.X_train[0, 0] != np.median(known)
    assert seen["X"][1, 0] == 24


# Tables that nobody means are refused at once, or read, but never take for ever.


def test_a_very_wide_table_is_read(tmp_path: Path) -> None:
    """Work that grows with the square of the columns would not end."""
    names = [f"f{column}" for column in range(10_000)]
    rows = [",".join(["ab"[row % 2], *[str(row)] * len(names)]) for row in range(4)]
    (tmp_path / "d.csv").write_text("\n".join([",".join(["label", *names]), *rows]) + "\n")
    dataset = load_dataset(tmp_path / "d.csv", TableOptions(drop=("f0",)))
    assert dataset.X_train.shape == (4, 9_999)
    wanted = tuple(names[:0:-1])
    X, _ = load_points(
        tmp_path / "d.csv",
        Expected(n_features=len(wanted), feature_names=wanted, classes=("a", "b")),
    )
    assert np.array_equal(X, dataset.X_train[:, ::-1])


@pytest.mark.parametrize("data", [np.zeros((3, 2)), None, {"a": [1]}])
def test_data_instead_of_its_file_is_refused(data: Any) -> None:
    with refused_by("system.files"):
        load_dataset(data)


def test_more_columns_than_features_may_be_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "INDEX_LIMIT", 3)
    (tmp_path / "d.csv").write_text("1,2,3,4\n")
    with refused_by("data.tables.text"):
        load_dataset(tmp_path / "d.csv")


def test_a_list_of_columns_that_ends_within_a_line_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("label,a\na,1\nb,2\n")
    refuses(run("data", tmp_path / "d.csv", "--drop", "a\nb"), "data.options")


# Who only reads a table does not wait for scikit-learn or pandas to be imported.

_PROGRAM = """
import sys
from pathlib import Path
from protonn_edge import load_dataset
dataset = load_dataset(Path(sys.argv[1]))
assert dataset.notices, "the label is found, which is said"
print("sklearn" in sys.modules, "pandas" in sys.modules)
"""


def test_reading_does_not_import_scikit_learn_or_pandas(tmp_path: Path) -> None:
    rows = "".join(f"{i % 3}.5,{i * 7 % 5}.25,{i % 2}\n" for i in range(40))
    (tmp_path / "d.csv").write_text(rows)
    command = [sys.executable, "-c", _PROGRAM, str(tmp_path / "d.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


# A report knows where the label of a table without a header is: it may be a number, too.


def test_the_columns_of_the_features_are_named_as_in_the_page(tmp_path: Path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    rows = [
        f"{label},{x:.2f},{int(x > 0.7)}" for label, x in zip(y, rng.normal(y, 0.3), strict=True)
    ]
    table = tmp_path / "t.csv"
    table.write_text("\n".join(rows) + "\n")
    read = ["--label", "first"]
    succeed("train", table, "-o", tmp_path / "m.npz", "--classifier", "linear", *read)
    model = load_model(tmp_path / "m.npz")
    given = _given(model, table, TableOptions(label="first"), Output(as_json=True))
    assert given["columns"] == ["column 1", "feature 0", "feature 1"]


# Some rows were dropped, and answers to later rows had the numbers of other rows.


def test_results_have_the_rows_of_the_file_also_of_a_resumed_run(tmp_path: Path) -> None:
    path, rows = tmp_path / "results.csv", [*range(1, N), N + 5]
    device = [HostileDevice(honest_model())]
    measure_on(device, results=path, rows=rows)
    assert sorted(each.index for each in read_results(path).results) == rows
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:8]))
    again, _ = measure_on([HostileDevice(honest_model())], results=path, rows=rows, resume=True)
    assert sorted(each.index for each in read_results(path).results) == rows
    assert again.summary.n == N
    assert again.summary.mismatches == 0


def test_a_report_shows_the_points_of_these_rows() -> None:
    one = evidence_of(random_model(), 30)
    assert one.points is not None
    later = replace(
        one,
        results=tuple(replace(each, index=each.index + 7) for each in one.results),
        points=replace(one.points, rows=range(7, 37)),
    )
    before, after = (mistake_panels(each)[0].gallery for each in (one, later))
    assert [each.index + 7 for each in before] == [each.index for each in after]


# A file that is not the text its name promises is called what it is; so are odd names.

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
