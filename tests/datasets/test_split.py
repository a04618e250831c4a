"""``split`` divides a table: rows unchanged, groups whole, the same again with the same seed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json, succeed
from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.datasets import load_dataset
from protonn_edge.datasets.splits import chosen_for_test
from protonn_edge.errors import InputError

HEAD = "\ufeffx;note;who;state\r\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Give a table with gaps, quoted line feeds, a blank line, and no line end at the end."""
    rows = [
        f'{row},50;"a ""{row}""\nb";p{row % 8};{"bad" if row % 10 == 0 else "ok"}\r\n'
        for row in range(80)
    ]
    rows[5] = ";;p5;ok\r\n"
    path = tmp_path / "d.csv"
    path.write_bytes((HEAD + "".join(rows[:40]) + "\r\n" + "".join(rows[40:])).rstrip().encode())
    return path


def parts(folder: Path) -> tuple[bytes, bytes]:
    return (folder / "train.csv").read_bytes(), (folder / "test.csv").read_bytes()


def test_rows_stay_as_they_are(table: Path) -> None:
    folder = table.with_name("parts")
    record = run_json("split", table, "-o", folder, "--test", 0.25)
    assert (record["train"]["n"], record["test"]["n"]) == (60, 20)
    train, test = parts(folder)
    whole = table.read_bytes() + b"\n"
    for part in (train, test):
        assert part.startswith(HEAD.encode())
        for row in part[len(HEAD.encode()) :].split(b"\r\n"):
            assert row.strip(b"\n") in whole
    assert len(train) + len(test) == len(whole) - len("\r\n") + len(HEAD.encode())
    assert len(load_dataset(folder / "train.csv", missing="median").y_train) == 60
    succeed("split", table, "-o", folder, "--test", 0.25)
    assert parts(folder) == (train, test)
    assert "already exists; choose another folder" in refusal(
        run("split", table, "-o", folder, "--seed", 1)
    )


def test_groups_stay_together_and_classes_have_their_share(table: Path) -> None:
    folder = table.with_name("parts")
    said = succeed("split", table, "-o", folder, "--groups", "who")
    people = [
        {line.split(b";")[-2] for line in part.split(b"\n") if line.count(b";p")}
        for part in parts(folder)
    ]
    assert len(people[0] | people[1]) == 8
    assert not people[0] & people[1]
    named = re.search(r"groups held out for testing: (.*)", said.stderr)
    assert named is not None
    assert {who.encode() for who in re.findall(r"'(p\d+)'", named[1])} == people[1]
    folder = table.with_name("stratified")
    record = run_json("split", table, "-o", folder, "--stratify")
    assert record["test"]["classes"] == {"bad": 2, "ok": 18}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--groups", "nobody"), "--groups is 'nobody', which is not a column"),
        (("--test", 0.001), "leaves one part without rows; use another share"),
        (("--groups", "state", "--test", 0.01), "leaves one part without groups"),
    ],
)
def test_what_cannot_be_split_is_refused(
    table: Path, arguments: tuple[object, ...], words: str
) -> None:
    assert words in refusal(run("split", table, "-o", table.with_name("p"), *arguments))


def test_only_tables_are_split(tmp_path: Path) -> None:
    other = tmp_path / "d.npz"
    np.savez(other, X=np.zeros((2, 2)), y=[0, 1])
    assert "neither .csv nor .tsv" in refusal(run("split", other, "-o", tmp_path / "p"))
    take = tmp_path / "take.csv"
    take.write_text("# protonn-edge recording; sensor: x; rate: 50 Hz\nx,label\n1,a\n2,b\n")
    assert "divide it with 'windows --test'" in refusal(run("split", take, "-o", tmp_path / "p"))


def test_a_class_without_training_rows_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(
        "x,label,g\n" + "".join(f"{row},{'ab'[row < 3]},{row < 3}\n" for row in range(12))
    )
    record = run_json("split", path, "-o", tmp_path / "p", "--groups", "g")
    _, trained, tested = (notice["text"] for notice in record["notices"])
    assert trained.startswith("classes without training rows: 'b'")
    assert tested.startswith("classes without test rows: 'a'")


@given(
    rows=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 6)), min_size=2, max_size=60),
    share=st.floats(0.05, 0.95),
    seed=st.integers(0, 9),
    stratified=st.booleans(),
    grouped=st.booleans(),
)
def test_any_rows_are_divided_or_refused(
    rows: list[tuple[str, int]], share: float, seed: int, stratified: bool, grouped: bool
) -> None:
    labels = [label for label, _ in rows]
    groups = [str(group) for _, group in rows] if grouped else None
    given_labels = labels if stratified else None
    try:
        chosen = chosen_for_test(len(rows), share, seed, given_labels, groups)
    except InputError:
        return
    again = chosen_for_test(len(rows), share, seed, given_labels, groups)
    assert np.array_equal(chosen, again)
    assert 0 < chosen.sum() < len(rows)
    if groups is not None:
        assert all(len(set(chosen[np.array(groups) == group])) == 1 for group in set(groups))
    elif stratified:
        for label, count in Counter(labels).items():
            assert abs(chosen[np.array(labels) == label].sum() - share * count) <= 0.5
