"""Takes of words from text, with a stand-in for the synthesizer; one test needs a real one."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json, succeed

from protonn_edge.extensions.sensing.speech import synthesizers

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in is the only synthesizer; `python3` is still found."""
    programs = tmp_path / "programs"
    programs.mkdir()
    shutil.copy2(HERE / "espeak-ng", programs)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setattr(synthesizers, "SYNTHESIZERS", synthesizers.SYNTHESIZERS[:1])
    monkeypatch.chdir(tmp_path)


def contents(folder: str) -> dict[str, bytes]:
    """Return the files below a folder by their names."""
    files = Path(folder).rglob("*.wav")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_each_speaker_says_each_class_and_windows_cuts_one_clip_of_each_take() -> None:
    record = run_json("speak", "lights on, Lights off", "-o", "w", "--speakers", 3)
    assert record["n_of_class"] == {"lights on": 3, "Lights off": 3}
    assert sorted(contents("w")) == sorted(
        f"{name}/{speaker}_{place}.wav"
        for place, name in enumerate(("lights on", "Lights off"), start=1)
        for speaker in (1, 2, 3)
    )
    pattern = "{class}/{person}_{take}"
    succeed("windows", "w", "-o", "w.npz", "--window", 2560, "--onset", 4, "--name", pattern)
    with np.load("w.npz", allow_pickle=False) as cut:
        assert np.bincount(cut["y_train"]).tolist() == [3, 3]
        assert sorted(set(cut["groups"].tolist())) == ["1", "2", "3"]
        assert float(cut["sample_rate"]) == 8000


def test_the_seed_decides_everything() -> None:
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        run_json("speak", "on,off", "-o", folder, "--speakers", 2, "--seed", seed)
    assert contents("a") == contents("b")
    assert set(contents("a").values()).isdisjoint(contents("c").values())


def test_the_background_is_other_words() -> None:
    more = ("--speakers", 5, "--background", "other")
    record = run_json("speak", "water,window", "-o", "w", *more)
    assert record["n_of_class"] == {"water": 5, "window": 5, "other": 10}


def test_takes_have_the_rate_and_the_length_that_are_asked_for() -> None:
    succeed("speak", "on,off", "-o", "w", "--speakers", 1, "--rate", 4000, "--seconds", 2)
    assert {len(each) for each in contents("w").values()} == {44 + 2 * 2 * 4000}


@pytest.mark.parametrize(
    ("words", "more", "sentence"),
    [
        ("on,../off", (), "WORDS has '../off'; give words of letters"),
        ("on,", (), "WORDS has ''; give words"),
        ("-v,on", (), "WORDS has '-v'"),
        ("on,On", (), "the name 'on' occurs twice"),
        ("on,off", ("--background", "a/b"), "WORDS has 'a/b'"),
        ("on", (), "a single class"),
        ("on,fail", (), "espeak-ng failed (out of breath)"),
        ("on,off", ("--language", "xx"), "--language is 'xx', but no voice"),
        ("on,off", ("--language", "mute"), "no voice speaks 'on'"),
        ("on,off", ("--speakers", 10_000, "--rate", 48_000, "--seconds", 2), "at most 1,073"),
    ],
)
def test_what_cannot_be_said_is_refused_and_nothing_is_written(
    words: str, more: tuple[str, ...], sentence: str
) -> None:
    done = run("speak", "-o", "w", "--speakers", 1, *more, "--", words)
    assert sentence in refusal(done, 1 if "failed" in sentence else 2)
    assert not Path("w").exists()


def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "mine.wav").write_bytes(b"mine")
    assert "not an empty folder" in refusal(run("speak", "on,off", "-o", "w"))
    assert contents("w") == {"mine.wav": b"mine"}


def test_without_a_synthesizer_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert "install some of espeak-ng" in refusal(run("speak", "on,off", "-o", "w"))


def test_a_synthesizer_that_hangs_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "programs" / "espeak-ng"
    program.write_text("#!/bin/sh\nsleep 60\n")
    monkeypatch.setattr(synthesizers, "_DEADLINE_S", 0.2)
    done = run("speak", "on,off", "-o", "w", "--speakers", 1)
    assert "more than 0.2 s" in refusal(done, 1)


@pytest.mark.parametrize("synthesizer", synthesizers.SYNTHESIZERS, ids=lambda each: each.package)
def test_each_real_synthesizer_says_a_word_in_each_manner(
    synthesizer: synthesizers.Synthesizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin:/usr/local/bin")
    if not synthesizer.is_installed:
        pytest.skip(f"install {synthesizer.package} to run this test")
    voice = synthesizer.voices("en")[0]
    lengths = []
    for speed in (0.75, 1.35):
        first, said = synthesizer.say(["one", "seven"], voice, synthesizers.Manner(1.2, speed))
        assert first is not None
        assert said is not None
        assert not np.array_equal(first.samples, said.samples)
        lengths.append(len(said.samples) / said.rate)
    assert lengths[0] > 1.3 * lengths[1] > 0.2
