"""A user meets one bound of a model: that of the program that was linked."""

from __future__ import annotations

from pathlib import Path

from avr_tools import needs_emulated_avr
from command_line import run, run_json
from model_factory import plain_model

from protonn_edge.model.file import save_model

pytestmark = needs_emulated_avr


def test_build_certify_and_python_name_the_same_bound(tmp_path: Path) -> None:
    model, project = tmp_path / "m.npz", tmp_path / "project"
    save_model(plain_model(), model)
    built = run("build", model, "-o", project)
    record = run_json("verify", project, "-o", tmp_path / "c.json", "--points", 8)
    (most,) = (each for each in record["claims"] if each["name"] == "cycles-most")
    assert most["statement"] == (
        f"a prediction takes at most {most['value']:,} cycles, not counting interrupts"
    )
    (bound,) = (line for line in built.stdout.splitlines() if line.strip().startswith("bound"))
    assert f"{most['value']:,} cycles" in bound
    assert "at most" not in built.stdout
    assert "at most" not in (project / "firmware/generated/pnn_model.c").read_text().split("*/")[0]


def test_a_librarys_readme_has_no_other_bound(tmp_path: Path) -> None:
    model, library = tmp_path / "m.npz", tmp_path / "classifier"
    save_model(plain_model(), model)
    run("export", model, "--arduino", library)
    text = (library / "README.md").read_text()
    assert text.count("takes at most") == 2  # cycles and stack of pnn_predict
    assert "B of flash" not in text.partition("## Certificate")[2]
