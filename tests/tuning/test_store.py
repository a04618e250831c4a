"""A search's file keeps finished trials through whatever ends the process."""

from __future__ import annotations

import pytest

from protonn_edge.errors import InputError
from protonn_edge.tuning.limits import Figures
from protonn_edge.tuning.store import Record, SearchFile

FIGURES = Figures("columns", 3_000, 80, 12_345.5)


@pytest.fixture
def opened(tmp_path, space):
    def open_file(path=tmp_path / "search.jsonl", **identity):
        return SearchFile(path, {"seed": 0} | identity, space.distributions)

    return open_file


@pytest.fixture
def records(space):
    draws = [space.suggest(number, 0, []) for number in range(4)]
    return [
        Record(
            0,
            draws[0],
            "complete",
            FIGURES,
            (0.9, 0.8),
            {0.25: 0.5, 0.75: 0.7},
            3.5,
            is_default=True,
            accuracies=(0.95, 0.9),
        ),
        Record(1, draws[1], "rejected", FIGURES, reason="x", excess={"--max-flash": 1.5}, rungs={}),
        Record(2, draws[2], "pruned", FIGURES, (), {0.25: 0.1}, 1.0, "y", {}),
        Record(3, draws[3], "failed", None, (), {}, 0.0, "z", {}),
    ]


def as_dicts(found):
    return {number: {**vars(r), "excess": dict(r.excess)} for number, r in found.items()}


def test_what_was_kept_is_read_again(opened, records):
    with opened() as file:
        for record in reversed(records):
            file.add(record)
    with opened() as file:
        assert as_dicts(file.records()) == as_dicts({r.number: r for r in records})


def test_a_line_that_was_cut_short_is_forgotten(opened, records, tmp_path):
    with opened() as file:
        for record in records[:3]:
            file.add(record)
    path = tmp_path / "search.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    with opened() as file:
        assert sorted(file.records()) == [0, 1]
        file.add(records[2])
    with opened() as file:
        assert sorted(file.records()) == [0, 1, 2]


def test_another_search_is_refused_by_what_differs(opened, records):
    with opened() as file:
        file.add(records[0])
    with pytest.raises(InputError, match="differs in seed"), opened(seed=1):
        pass


@pytest.mark.parametrize("content", [b"precious\n", b"{}\n", b"[1]\n", b'{"study_name": "x"}\n'])
def test_another_file_is_left_as_it_is(opened, tmp_path, content):
    path = tmp_path / "search.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a search file"), opened():
        pass
    assert path.read_bytes() == content


def test_damage_further_down_is_said(opened, records, tmp_path):
    with opened() as file:
        file.add(records[0])
    path = tmp_path / "search.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for damaged in ([*lines, b"{}\n"], [*lines[:-1], b"garbage\n", lines[-1]]):
        path.write_bytes(b"".join(damaged))
        with pytest.raises(InputError, match="not a search file"), opened() as file:
            file.records()


def test_one_search_at_a_time(opened):
    with (
        opened(),
        pytest.raises(InputError, match="another run is writing"),
        opened(),
    ):
        pass
    with opened():
        pass
