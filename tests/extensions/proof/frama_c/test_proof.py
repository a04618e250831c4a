"""A part of ``make prove``, where Frama-C is installed; and that a proof can fail."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from checkout import CHECKOUT
from extensions.proof.faults import faults
from extensions.proof.frama_c.limited import proven
from extensions.proof.frama_c.programs import Program, programs
from generated_programs import write_c

from protonn_edge.extensions.proof.certificate import eva
from protonn_edge.extensions.proof.certificate.eva import INSTALL
from protonn_edge.system.errors import CheckFailed

SECONDS = 60  # of a core
PROVEN = (
    *("linear: as many", "linear: two classes, 32 bits", "forest: no shared"),
    *(
        "bonsai_tree: a lone",
        "confidence",
        "label sets",
        "number",
        "prototypes: may be taught, 16",
        "decision: observed; ",
        "cascade: added; -; columns",
        "kernels: as drawn",
    ),
)

FAULTS = faults("Eva")
# Of a program whose proof takes as long as those of all the others; a table beyond its end is
# noticed at every push.
_LONGEST = "a row of weights that is off by one"

needs_frama_c = pytest.mark.skipif(
    shutil.which("frama-c") is None, reason=f"needs Frama-C: {INSTALL}"
)


def _written(name: str, folder: Path) -> Path:
    program: Program = next(each for each in programs() if each.name.startswith(name))
    write_c(program.model, folder, program.plan)
    return folder / "pnn_model.c"


@needs_frama_c
@pytest.mark.parametrize("name", PROVEN)
def test_generated_c_has_no_run_time_error(name: str, tmp_path: Path) -> None:
    _written(name, tmp_path)
    proof = proven(tmp_path, SECONDS)
    assert proof.alarms == ()
    assert proof.reached > 0.9 * proof.statements


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_put_into_its_program(fault: str, tmp_path: Path) -> None:
    name, right, _ = FAULTS[fault]
    _written(name, tmp_path)
    assert any(right in path.read_text(encoding="utf-8") for path in tmp_path.glob("pnn_*"))


@needs_frama_c
@pytest.mark.parametrize(
    "fault",
    [pytest.param(each, marks=[pytest.mark.nightly] * (each == _LONGEST)) for each in FAULTS],
)
def test_a_fault_gives_an_alarm(fault: str, tmp_path: Path) -> None:
    name, right, wrong = FAULTS[fault]
    _written(name, tmp_path)
    for source in tmp_path.glob("pnn_*"):
        text = source.read_text(encoding="utf-8")
        source.write_text(text.replace(right, wrong), encoding="utf-8")
    assert proven(tmp_path, SECONDS).alarms


@pytest.mark.parametrize("name", [*PROVEN, "audio: "])
def test_the_driver_calls_all_functions(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = _written(name, tmp_path).with_suffix(".h").read_text(encoding="utf-8")
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    declared = set(re.findall(r"^[\w* ]+\b(pnn_\w+)\([^;{]*\);", header, re.MULTILINE))
    monkeypatch.setattr(eva, "run_within", _stopped)
    with pytest.raises(CheckFailed, match="stopped with code 1"):
        eva.prove(tmp_path, SECONDS)
    driver = (tmp_path / "any_order.c").read_text(encoding="utf-8")
    assert len(declared) >= 10
    assert declared <= set(re.findall(r"\b(pnn_\w+)[(,)]", driver))


def _stopped(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess([], 1, "", "")


def test_a_function_that_the_driver_cannot_call_is_no_proof(tmp_path: Path) -> None:
    header = _written("linear: as many", tmp_path).with_suffix(".h")
    header.write_text(header.read_text("utf-8") + "\nvoid pnn_more(const char *text);\n", "utf-8")
    with pytest.raises(CheckFailed, match="no call of pnn_more"):
        eva.prove(tmp_path, SECONDS)


def test_nothing_is_assumed() -> None:
    """Annotations guide the interpreter; none adds a fact."""
    templates = [path.read_text(encoding="utf-8") for path in CHECKOUT.glob("templates/c/**/*.j2")]
    annotations = [
        line.strip()
        for text in templates
        for line in text.splitlines()
        if line.lstrip().startswith(("//@", "/*@"))
    ]
    guides = ("loop unroll", "loop widen_hints", "split", "dynamic_split", "merge")
    assert annotations
    assert all(line.removeprefix("//@ ").startswith(guides) for line in annotations)
