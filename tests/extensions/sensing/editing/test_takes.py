"""Takes are cut, relabelled and deleted, undone, and all else keeps its bytes."""

from __future__ import annotations

import json
import struct
import threading
import wave
from pathlib import Path

import numpy as np
import pytest
from command_line import assert_one_sentence, run, run_json, succeed
from extensions.sensing.sounds import write_sound
from hypothesis import given, settings
from hypothesis import strategies as st

from protonn_edge.extensions.sensing.editing.edits import TakeEditor
from protonn_edge.extensions.sensing.editing.takes import read_takes
from protonn_edge.extensions.sensing.recorder import RecordingFile
from protonn_edge.extensions.sensing.sensor_board import LoggerDescription
from protonn_edge.system.errors import InputError, ProtoNNEdgeError

DESCRIPTION = LoggerDescription(1, 3, 6, 1, 160_000, 16_000_000, bytes(6))
TAKES = [("rest", 30), ("wave", 20), ('wa"ve, twice', 25), ("rest", 10)]


def recorded(folder: Path, takes: list[tuple[str, int]] = TAKES) -> Path:
    """Write a recording with takes of classes and numbers of samples."""
    path, rng = folder / "recording.csv", np.random.default_rng(0)
    for label, n in takes:
        add(path, label, rng.integers(-9000, 9000, (n, 6)).astype(np.int16))
    return path


def add(path: Path, label: str, values: np.ndarray) -> None:
    with RecordingFile(path, DESCRIPTION, "anna") as file:
        file.append(label, file.begin_s + np.arange(len(values)) / 100, values)


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'"wa""ve, twice"', b"w\xe4ve", "row 51 is not UTF-8 text; save it in Excel"),
        (b"wave", b"wa\rve", "row 31 is not a sample"),
        (b"0.290000,", b"nan,", "a row between 1 and 30 is not a sample"),
        (b"0.290000,", b"0.29,0,", "a row between 1 and 30 is not a sample"),
        (b"rate: 100 Hz", b"rate: nan Hz", "a sampling rate of nan Hz"),
        (b"rate: 100 Hz", b"rate: 0 Hz", "a sampling rate of 0 Hz"),
    ],
)
def test_rows_of_other_programs_that_are_no_samples_are_refused_in_a_sentence(
    tmp_path: Path, old: bytes, new: bytes, said: str
) -> None:
    path = recorded(tmp_path)
    path.write_bytes(path.read_bytes().replace(old, new))
    with pytest.raises(InputError) as refused:
        read_takes(path)
    assert said in str(refused.value)


def test_takes_are_found_as_they_were_recorded(tmp_path: Path) -> None:
    path = recorded(tmp_path)
    path.write_bytes(path.read_bytes() + b"rest,anna,99.0,1,2")  # of a run that was killed
    found = read_takes(path)
    assert [(take.label, take.n, take.session) for take in found.takes] == [
        (label, n, "anna") for label, n in TAKES
    ]
    assert (found.channels, found.rate) == (("ax", "ay", "az", "gx", "gy", "gz"), 100.0)
    rows = [line.decode().rsplit(",", 6)[1:] for line in lines(path)[2:-1]]
    assert (
        np.concatenate([take.values for take in found.takes]).tolist()
        == np.array(rows, int).tolist()
    )
    listed = run_json("takes", path)["takes"]
    assert listed[2] == {"take": 3, "label": 'wa"ve, twice', "session": "anna", "samples": 25}
    assert "take 1" in succeed("takes", path).stdout


def test_lost_samples_do_not_divide_a_take(tmp_path: Path) -> None:
    path = recorded(tmp_path, [("rest", 30)])
    kept = lines(path)
    path.write_bytes(b"".join(kept[:9] + kept[12:]))
    assert [take.n for take in read_takes(path).takes] == [27]
    path.write_bytes(b"".join(kept[:9] + kept[13:]))
    assert [take.n for take in read_takes(path).takes] == [7, 19]


EDITS = [
    (["--take", 2, "--keep", "5:15"], range(37, 47), range(32, 52)),
    (["--take", 2, "--cut", "5:"], range(32, 37), range(32, 52)),
    (["--take", 4, "--cut", ":4"], range(81, 87), range(77, 87)),
    (["--take", 1, "--cut", "10:12"], [*range(2, 12), *range(14, 32)], range(2, 32)),
    (["--take", 3, "--delete"], [], range(52, 77)),
    (["--take", 3, "--cut", "0:99"], [], range(52, 77)),
]


@pytest.mark.parametrize(("words", "kept", "of"), EDITS)
def test_a_cut_keeps_all_other_bytes_and_is_undone(
    tmp_path: Path, words: list[object], kept: range, of: range
) -> None:
    path = recorded(tmp_path)
    before = lines(path)
    cut = run_json("takes", path, *words)["edit"]
    middle = [before[at] for at in kept]
    assert lines(path) == before[: of[0]] + middle + before[of[-1] + 1 :]
    assert run_json("takes", path, "--undo")["edit"] == f"undid the edit {cut!r}"
    assert lines(path) == before
    assert_one_sentence(run("takes", path, "--undo"), "there is no edit of")


def test_a_take_gets_another_class_and_session(tmp_path: Path) -> None:
    path = recorded(tmp_path)
    before = lines(path)
    succeed("takes", path, "--take", 3, "--label", "still, or not", "--session", "ben")
    after = lines(path)
    assert after[:52] + after[77:] == before[:52] + before[77:]
    tails = [line.rsplit(b",", 7)[1:] for line in before[52:77]]
    new = [b'"still, or not",ben,' + b",".join(tail) for tail in tails]
    assert after[52:77] == new
    succeed("takes", path, "--undo")
    assert lines(path) == before


def test_an_edit_is_undone_after_more_was_recorded(tmp_path: Path) -> None:
    path = recorded(tmp_path)
    before = path.read_bytes()
    editor = TakeEditor(path)
    editor.delete(4)
    editor.rename(1, label="still")
    add(path, "circle", np.ones((7, 6), np.int16))
    added = path.read_bytes()[-7 * 20 :]
    assert editor.undoable == ["deleted take 4, rest", "take 1 is now still, anna"]
    editor.undo()
    editor.undo()
    assert path.read_bytes().startswith(before)
    assert path.read_bytes().endswith(added)
    assert len(path.read_bytes().splitlines()) == len(before.splitlines()) + 7


def test_nothing_is_undone_where_another_program_wrote(tmp_path: Path) -> None:
    path = recorded(tmp_path)
    TakeEditor(path).delete(2)
    path.write_bytes(path.read_bytes().replace(b"rest", b"quiet"))
    changed = path.read_bytes()
    refused = run("takes", path, "--undo")
    assert_one_sentence(refused, "another program has changed", exit_code=1)
    assert path.read_bytes() == changed


def test_an_edit_that_was_never_made_is_skipped(tmp_path: Path, monkeypatch) -> None:
    path = recorded(tmp_path)
    before = path.read_bytes()
    editor = TakeEditor(path)
    editor.delete(2)
    with monkeypatch.context() as patched:  # stopped between the two files
        patched.setattr(TakeEditor, "_write", lambda *_: None)
        editor.rename(1, label="still")
    editor.undo()
    assert path.read_bytes() == before


def test_a_recording_in_use_is_not_edited(tmp_path: Path) -> None:
    path = recorded(tmp_path)
    with RecordingFile(path, DESCRIPTION, "anna"):
        done = run("takes", path, "--take", 1, "--delete")
        assert_one_sentence(done, "another run is writing")
        assert "wait until it ends\n" in done.output + done.stderr  # `takes` has no -o
    add(path, "rest", np.ones((1, 6), np.int16))


def test_edits_of_two_programs_at_once_come_one_after_the_other(tmp_path: Path) -> None:
    path = recorded(tmp_path, [("rest", 20)] * 9)
    refused = []

    def cut() -> None:
        try:
            TakeEditor(path).cut(1, 0, 1)
        except ProtoNNEdgeError as error:
            refused.append(error)

    threads = [threading.Thread(target=cut, daemon=True) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sum(take.n for take in read_takes(path).takes) >= 180 - 8
    assert [take.label for take in read_takes(path).takes] == ["rest"] * 9


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(5, 9)), min_size=2, max_size=4),
       st.data())  # fmt: skip
def test_any_edits_are_undone_in_turn(
    tmp_path_factory: pytest.TempPathFactory, takes: list[tuple[str, int]], data: st.DataObject
) -> None:
    path = recorded(tmp_path_factory.mktemp("edits"), takes)
    editor, states = TakeEditor(path), [path.read_bytes()]
    for _ in range(data.draw(st.integers(1, 4))):
        number = data.draw(st.integers(1, len(read_takes(path).takes)))
        first = data.draw(st.integers(0, 5))
        kind = data.draw(st.sampled_from(["cut", "keep", "rename"]))
        try:
            if kind == "rename":
                editor.rename(number, label=data.draw(st.sampled_from(["c", "a,b", 'q"'])))
            else:
                getattr(editor, kind)(number, first, first + 2)
        except ProtoNNEdgeError:
            continue
        states.append(path.read_bytes())
        if not read_takes(path).takes:
            break
    while len(states) > 1:
        assert path.read_bytes() == states.pop()
        editor.undo()
    assert path.read_bytes() == states[0]


# --- folders -------------------------------------------------------------------------------------


@pytest.fixture(params=["folders", "names"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a folder of takes, a folder per class, or a name per class."""
    root, rng = tmp_path / "takes", np.random.default_rng(0)
    for label in ("rest", "wave"):
        for number in (1, 2):
            name = (
                f"{label}/{number}.csv" if request.param == "folders" else f"{label}.{number}.csv"
            )
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            rows = "".join(f"{a},{b}\n" for a, b in rng.integers(0, 900, (20, 2)).tolist())
            (root / name).write_text("# by hand\nax,ay\n" + rows)
    return root


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*.csv"))
    }


def test_files_of_a_folder_are_cut_renamed_deleted_and_undone(folder: Path) -> None:
    before = contents(folder)
    names = [*before]
    assert [(take.label, take.n) for take in read_takes(folder).takes] == [
        ("rest", 20), ("rest", 20), ("wave", 20), ("wave", 20)
    ]  # fmt: skip
    succeed("takes", folder, "--take", 2, "--keep", "5:10")
    rows = before[names[1]].splitlines(keepends=True)
    assert contents(folder)[names[1]].splitlines(keepends=True) == rows[:2] + rows[7:12]
    succeed("takes", folder, "--take", 1, "--label", "wave")
    assert [take.label for take in read_takes(folder).takes] == ["rest", "wave", "wave", "wave"]
    assert before[names[0]] in contents(folder).values()
    succeed("takes", folder, "--take", 3, "--delete")
    assert len(contents(folder)) == 3
    assert_one_sentence(run("takes", folder, "--take", 1, "--session", "b"), "--session")
    for _ in range(3):
        succeed("takes", folder, "--undo")
    assert contents(folder) == before


def test_a_sound_is_cut_and_stays_one(tmp_path: Path) -> None:
    sounds = np.random.default_rng(0).integers(-9000, 9000, 400).astype("<i2")
    for name in ("clap.1.wav", "hum.1.wav"):
        write_sound(tmp_path / name, sounds)
    before = (tmp_path / "clap.1.wav").read_bytes()
    succeed("takes", tmp_path, "--take", 1, "--cut", "100:150")
    with wave.open(str(tmp_path / "clap.1.wav")) as file:
        left = np.frombuffer(file.readframes(999), "<i2")
    assert left.tolist() == np.delete(sounds, np.s_[100:150]).tolist()
    assert (tmp_path / "hum.1.wav").read_bytes() == before
    succeed("takes", tmp_path, "--undo")
    assert (tmp_path / "clap.1.wav").read_bytes() == before


@pytest.mark.parametrize("stated", [0x7FFF_FFFF, 0xFFFF_FFFE, 0xFFFF_FFFF])
def test_a_sound_that_was_streamed_is_cut(tmp_path: Path, stated: int) -> None:
    """Such a file states the largest size instead of its own."""
    for name in ("clap.1.wav", "hum.1.wav"):
        write_sound(tmp_path / name, np.arange(0, 20_000, 100, np.int16))
    streamed = tmp_path / "clap.1.wav"
    content = bytearray(streamed.read_bytes())
    for place in (4, 40):
        struct.pack_into("<I", content, place, stated)
    streamed.write_bytes(content)
    succeed("takes", tmp_path, "--take", 1, "--keep", "10:30")
    cut = streamed.read_bytes()
    assert cut[44:] == content[44 + 20 : 44 + 60]
    assert struct.unpack_from("<I", cut, 40) == (stated - 2 * 180,)
    succeed("takes", tmp_path, "--undo")
    assert streamed.read_bytes() == content


HEAD = "# protonn-edge recording 1; sensor: a{}0; rate: 50 Hz; units: 1/1023\n"
ROWS = "label,session,time,a0\nrest,anna,0,5\nrest,anna,0.02,6\n"


@pytest.mark.parametrize("odd", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_the_first_line_may_have_any_character(tmp_path: Path, odd: str) -> None:
    (tmp_path / "r.csv").write_text(HEAD.format(odd) + ROWS, encoding="utf-8", newline="")
    (take,) = read_takes(tmp_path / "r.csv").takes
    assert (take.label, take.n) == ("rest", 2)


# --- what is beside a recording may be anyone's --------------------------------------------------


@pytest.mark.parametrize(
    "file", ["../stolen", "sub/../../stolen", "/tmp/protonn-edge-stolen", "link/stolen"]
)
def test_an_undo_leads_to_no_file_elsewhere(folder: Path, tmp_path: Path, file: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    replaced = [{"file": file, "at": 0, "old": "mine", "new": None}]
    undo = folder.with_name(f".{folder.name}.undo")
    undo.write_text(json.dumps({"words": "an edit", "replaced": replaced}) + "\n")
    assert run("takes", folder, "--undo").exit_code == 2
    assert [path.name for path in tmp_path.rglob("stolen")] == []
    assert not Path(file).exists()


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe",
        b"[" * 100_000,
        b"7\n",
        b'{"words": 1, "replaced": [7]}\n',
        b'{"words": "a", "replaced": [{"file": 3, "at": 0, "old": "", "new": ""}]}\n',
        b'{"words": "a", "replaced": [{"file": "r.csv", "at": "", "old": "", "new": ""}]}\n',
    ],
)
def test_an_undo_file_that_is_damaged_has_no_edits(tmp_path: Path, content: bytes) -> None:
    path = recorded(tmp_path)
    path.with_name(".recording.csv.undo").write_bytes(content)
    assert_one_sentence(run("takes", path, "--undo"), "there is no edit")
    succeed("takes", path, "--take", 1, "--delete")
    succeed("takes", path, "--undo")


def test_a_part_of_many_digits_is_refused(tmp_path: Path) -> None:
    done = run("takes", recorded(tmp_path), "--take", 1, "--keep", "1" * 5000 + ":")
    assert_one_sentence(done, "is no part of a take")
