"""Gaps filled with a model's medians were said to be filled with the most frequent value."""

from __future__ import annotations

from pathlib import Path

from command_line import run_json, succeed


def test_the_notice_names_what_filled_the_gaps(tmp_path: Path) -> None:
    data, model = tmp_path / "d.csv", tmp_path / "m.npz"
    rows = [f"{'' if i % 9 == 0 else i * i % 31},{i % 7},{'ab'[i % 2]}" for i in range(60)]
    data.write_text("\n".join(["p,q,label", *rows]) + "\n")
    succeed("train", data, "--missing", "median", "--classifier", "linear", "-o", model)
    asked = "--missing", "most-frequent"
    answers = tmp_path / "same.csv", tmp_path / "asked.csv"
    for output, words in zip(answers, ((), asked), strict=True):
        found = run_json("predict", model, data, "-o", output, "--json", *words)
        (text,) = (each["text"] for each in found["notices"] if each["kind"] == "missing")
        assert text.startswith("gaps filled with the median value: 7 in column 'p'")
    assert answers[0].read_bytes() == answers[1].read_bytes()
