"""A search's file keeps finished trials through whatever ends the process."""

from __future__ import annotations

import functools

import optuna
import pytest
from learn.tuning.trials import add
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from refusals import refused_by

from protonn_edge.learn.search.limits import Figures
from protonn_edge.learn.search.store import Record, SearchFile
from protonn_edge.system.errors import InputError

FIGURES = Figures("columns", 3_000, 80, 12_345.5)


RECORDS = [
    Record(
        0,
        {},
        "complete",
        FIGURES,
        [0.9, 0.8],
        3.5,
        accuracies=[0.95, 0.9],
    ),
    Record(1, {}, "infeasible", FIGURES, [], excess={"--max-flash": 1.5}, accuracies=[]),
    Record(2, {}, "pruned", FIGURES, [0.7], 1.0, accuracies=[0.7]),
    Record(3, {}, "failed", None, [], 0.0, "z", accuracies=[]),
]


@pytest.fixture
def opened(tmp_path):
    def open_file(**identity):
        return SearchFile(tmp_path / "search.jsonl", {"seed": 0} | identity)

    return open_file


@pytest.fixture
def told(space):
    """Return a function that tells a file the result of its next trial."""
    return functools.partial(add, space=space)


def test_what_was_kept_is_read_again(opened, told):
    with opened() as file:
        records = [told(file, record=record) for record in RECORDS]
    with opened() as file:
        assert file.records == records


def test_optuna_reads_the_trials(opened, told, tmp_path):
    with opened() as file:
        for record in RECORDS:
            told(file, record=record)
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "search.jsonl")))
    (study,) = optuna.get_all_study_summaries(storage)
    assert study.best_trial.value == RECORDS[0].score
    assert study.n_trials == len(RECORDS)


def test_what_a_killed_run_had_begun_is_asked_for_again(opened, told, space):
    with opened() as file:
        space.begin(file.study)
        begun = [file.study.ask() for _ in range(3)]
        settings = [space.draw(trial) for trial in begun]
        begun[0].report(0.3, 1)  # while its result was written
    with opened() as file:
        space.begin(file.study)
        again = [told(file, record=RECORDS[0]) for _ in range(4)]
    assert [each.settings for each in again[:3]] == settings
    assert [each.number for each in again] == [0, 1, 2, 3]
    assert again[0].settings == space.starts[0]


@pytest.mark.parametrize("rest", [b"x", b'{"op_code":4,"val'])
def test_a_line_that_was_cut_short_is_forgotten(opened, told, tmp_path, rest):
    with opened() as file:
        first = told(file, record=RECORDS[0])
    path = tmp_path / "search.jsonl"
    path.write_bytes(path.read_bytes() + rest)
    with opened() as file:
        assert file.records == [first]
        second = told(file, record=RECORDS[1])
    with opened() as file:
        assert file.records == [first, second]


def test_a_search_killed_while_it_began_can_be_resumed(opened, told, tmp_path):
    with opened():
        pass
    path = tmp_path / "search.jsonl"
    begun, *_ = path.read_bytes().splitlines(keepends=True)
    for content in (b"", begun, begun + b'{"op'):
        path.write_bytes(content)
        with opened() as file:
            first = told(file, record=RECORDS[0])
        with opened() as file:
            assert file.records == [first]


def test_another_search_is_refused_by_what_differs(opened, told):
    with opened() as file:
        told(file, record=RECORDS[0])
    with refused_by("learn.search.store"), opened(seed=1):
        pass


@pytest.mark.parametrize(
    "content", [b"precious\n", b"precious", b"{}\n", b"[1]\n", b"\xff\n", None]
)
def test_another_file_is_left_as_it_is(opened, tmp_path, content):
    """None: another program's study."""
    path = tmp_path / "search.jsonl"
    if content is None:  # a study of another program
        backend = JournalFileBackend(str(path))
        optuna.create_study(storage=JournalStorage(backend), study_name="x")
        content = path.read_bytes()
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a search file"), opened():
        pass
    assert path.read_bytes() == content


def test_damage_further_down_is_said(opened, told, tmp_path):
    with opened() as file:
        told(file, record=RECORDS[0])
    path = tmp_path / "search.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for damaged in ([*lines, b"{}\n"], [*lines[:-1], b"garbage\n", lines[-1]]):
        path.write_bytes(b"".join(damaged))
        with refused_by("learn.search.store"), opened():
            pass


def test_one_search_at_a_time(opened):
    with (
        opened(),
        refused_by("system.files"),
        opened(),
    ):
        pass
    with opened():
        pass
