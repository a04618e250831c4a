"""The page of ``data --html`` shows what is in a file, in bounded size, and runs none of it."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import succeed

pytest.importorskip("matplotlib")

RNG = np.random.default_rng(0)


class Elements(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def count(self, tag: str, **wanted: str) -> int:
        return sum(
            name == tag and all(attrs.get(key) == value for key, value in wanted.items())
            for name, attrs in self.tags
        )


def page_of(data: Path, *options: str) -> Elements:
    page = data.with_name("page.html")
    succeed("data", data, "--html", page, *options)
    text = page.read_text(encoding="utf-8")
    succeed("data", data, "--html", page, *options)  # which may overwrite a page
    assert page.read_text(encoding="utf-8") == text
    assert "default-src 'none'" in text
    elements = Elements(text)
    for tag, attrs in elements.tags:
        assert tag not in ("script", "iframe", "object")
        assert not any(name.startswith("on") for name in attrs)
        for name in ("src", "href"):
            assert (attrs.get(name) or "data:").startswith(("data:", "#"))
    return elements


def arrays(path: Path, **named: Any) -> Path:
    np.savez(path, **named)
    return path


def test_a_table_has_histograms_by_class_and_its_problems(tmp_path: Path) -> None:
    rows = [
        f"{x:.3f},{'' if i % 9 == 0 else i % 5},7,{'ab'[i % 2]}"
        for i, x in enumerate(RNG.normal(size=200))
    ]
    data = tmp_path / "d.csv"
    data.write_text("\n".join(["temp (C),n,fixed,label", *rows, rows[0], "999,1,7,a"]) + "\n")
    page = page_of(data)
    assert (
        page.count("polyline", **{"class": "c0"}) == page.count("polyline", **{"class": "c1"}) == 2
    )
    for words in (
        "temp (C): ",
        "gaps: 24 in column 'n'",
        "never vary",
        "duplicate training points: ",
    ):
        assert words in page.text
    assert "point 202" in page.text  # an outlier, in the plane and the table
    assert page.text.count("999") >= 2


def test_windows_of_all_parts_are_drawn_with_their_rate_and_unit(tmp_path: Path) -> None:
    """The sample was the first windows of one person, nearly alike; neither rate nor unit stood."""
    windows = RNG.normal(size=(60, 20, 2))
    data = arrays(
        tmp_path / "w.npz",
        X_train=windows,
        y_train=np.arange(60) // 30,
        class_names=np.array(["a", "b"]),
        channel_names=np.array(["ax", "ay"]),
        sample_rate=np.array(50.0),
        sensor=np.array("mpu6050"),
        units=np.array(["m/s^2"] * 2),
    )
    page = page_of(data)
    for words in ("point 1", "point 30", "point 31", "point 60", "50 samples a second"):
        assert words in page.text
    assert "mpu6050 (m/s^2)" in page.text
    assert "outlier" not in page.text.lower()


def test_names_from_data_are_text(tmp_path: Path) -> None:
    data = tmp_path / "<script>alert(1)<" / "d.csv"
    data.parent.mkdir()
    names = "<script>alert(1)</script>", 'a""onload=""x', "$x$ & </svg></style>"
    lines = [f'"{names[0]}","{names[1]}","{names[2]}",session,time,label']
    for i in range(60):
        label = ("<img src=x onerror=alert(1)>", "b&amp;</ul>")[i // 30]
        lines.append(f'{i % 7},{i % 11},{RNG.normal():.2f},</h1><script>{i // 30},{i},"{label}"')
    data.write_text("\n".join(lines) + "\n")
    page = page_of(data)
    assert page.count("img") == 0
    for name in (
        "<script>alert(1)</script>",
        'a"onload="x',
        "<img src=x onerror=alert(1)>",
        "</h1><script>0 rows 1 to 30",
    ):
        assert name in page.text


def test_takes_of_a_recording_are_curves_of_its_channels(tmp_path: Path) -> None:
    lines = [
        f"{20 * i},s{i // 50},{np.sin(i):.3f},{np.cos(i):.3f},{'ab'[i // 100]}" for i in range(200)
    ]
    data = tmp_path / "d.csv"
    data.write_text("\n".join(["time,session,ax,ay,label", *lines]) + "\n")
    page = page_of(data)
    assert "a, s1 rows 51 to 100" in page.text
    assert page.count("polyline") == 2 * 2 + 4 * 2  # two classes of two columns, four takes


_COLUMNS = ("time", "session", "time,session", "")
_SETS = np.eye(3, dtype=np.uint8)[np.arange(60) // 20]


@pytest.mark.parametrize("columns", _COLUMNS)
@pytest.mark.parametrize("labels", ["classes", "numbers"])
def test_any_table_has_a_page_and_a_recording_its_takes(
    tmp_path: Path, labels: str, columns: str
) -> None:
    """Equal labels of neighbours, which are one number or one class, do not divide a take."""
    names = columns.split(",") if columns else []
    rows = []
    for i in range(60):
        known = {"time": 0.02 * (i % 30), "session": f"s{i // 30}"}
        label = ("a", "b")[i // 30] if labels == "classes" else 20.5 + 0.01 * (i // 2)
        cells = [*(known[name] for name in names), *RNG.normal(size=2).round(3), label]
        rows.append(",".join(map(str, cells)))
    data = tmp_path / "d.csv"
    data.write_text("\n".join([",".join([*names, "ax", "ay", "y"]), *rows]) + "\n")
    page = page_of(data, "--label", "y")
    takes = 0 if not columns else 1 + ("session" in columns or labels == "classes")
    assert page.count("section", id="takes") == (takes > 0)
    assert page.text.count("rows 1 to ") + page.text.count("rows 31 to ") == takes
    assert page.count("section", id="classes") == (labels == "classes")


@pytest.mark.parametrize(
    ("shape", "rate"), [((60, 4), None), ((60, 20, 2), 50.0), ((60, 8, 8), None)]
)
@pytest.mark.parametrize(
    "y", [np.arange(60) // 30, 20 + np.arange(60) / 7, _SETS], ids=["classes", "numbers", "sets"]
)
def test_any_arrays_have_a_page(
    tmp_path: Path, y: Any, shape: tuple[int, ...], rate: float | None
) -> None:
    named = {} if rate is None else {"sample_rate": rate}
    data = arrays(tmp_path / "d.npz", X=RNG.normal(size=shape).astype(np.float32), y=y, **named)
    page = page_of(data)
    assert page.count("section", id="takes") == (len(shape) == 3)
    assert page.count("section", id="space") == 1


@pytest.mark.parametrize(
    ("name", "shape", "rate", "words"),
    [
        ("windows", (30, 40, 3), 50.0, "class 1, point 2"),
        ("sound", (6, 2_000, 1), 4_000.0, "class 1, point 2: 0 to 2 kHz, 0.5 s"),
        ("images", (30, 8, 9), None, "class 1, point 2"),
    ],
)
def test_points_are_curves_spectrograms_or_pictures(
    tmp_path: Path, name: str, shape: tuple[int, ...], rate: float | None, words: str
) -> None:
    y = np.arange(shape[0]) % 2
    X = RNG.normal(size=shape).astype(np.float32)
    named = {} if rate is None else {"sample_rate": rate}
    data = arrays(
        tmp_path / "d.npz", X_train=X, y_train=y, class_names=["class 0", "class 1"], **named
    )
    page = page_of(data)
    assert words in page.text
    assert page.count("img") == {"windows": 0, "sound": 6, "images": 24}[name]
    assert page.count("polyline") == {"windows": 3 * 2 + 24 * 3, "sound": 2, "images": 2}[name]


def test_the_size_is_bounded(tmp_path: Path) -> None:
    X = RNG.normal(size=(1_000, 200)).astype(np.float32)
    data = arrays(tmp_path / "d.npz", X_train=X, y_train=np.arange(1_000) % 100)
    page = page_of(data)
    assert (tmp_path / "page.html").stat().st_size < 600_000
    assert page.count("polyline") == 48 * 12
    assert page.count("circle") <= 608
    assert page.count("span", **{"class": "bar"}) == 40


@pytest.mark.parametrize(
    "text",
    [
        "1,5,7 3:0.5\n2 1:1\n7 2:3\n",  # sets of labels
        "1 1:1\n2 1:1\n",  # one point only
        "1 1:1 2:3e38\n2 1:2 2:-3e38\n1 1:3\n2 2:1e-38\n",
    ],
)
def test_unusual_data_has_a_page_too(tmp_path: Path, text: str) -> None:
    data = tmp_path / "d.svm"
    data.write_text(text)
    assert "Classes" in page_of(data).text
