"""What a command does not use is not imported, and the package names what users look for."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from command_line import every_command
from extension_parts import needs
from sklearn.datasets import load_iris

import protonn_edge
from protonn_edge.cli import COMMANDS, MODULES

MODEL = Path(__file__).parents[1] / "model" / "format_9.npz"
HEAVY = ("sklearn", "scipy", "matplotlib", "optuna", "requests", "platformio", "serial", "elftools")
LAZY = ("protonn_edge",)
PROGRAM = """
import os, sys
from protonn_edge.cli import main
if sys.argv[1] == "TAB":
    words = ["protonn-edge", *sys.argv[2:]]
    os.environ |= {"_PROTONN_EDGE_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words),
                   "COMP_CWORD": str(len(words) - 1)}
    sys.argv[1:] = []
try:
    main(prog_name="protonn-edge")
finally:
    print(*{name.split(".")[0] for name in sys.modules}, file=sys.stderr)
    print(*sys.modules, file=sys.stderr)
"""


def started(*words: str, code: int = 0) -> tuple[str, set[str], set[str]]:
    """Return what a command prints, and the packages and the modules that it imported."""
    command = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    packages, modules = done.stderr.splitlines()[-2:]
    return done.stdout, set(packages.split()), set(modules.split())


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("inspect", str(MODEL)), "classes L"),
        (("inspect", "--boards"), "atmega2560"),
        (("train", "--help"), "--features"),
        (("train", "--classifier", "forest", "--help"), "--min-leaf"),
        (("tune", "--help"), "--max-flash"),
        pytest.param(("convert", "--help"), "--reference", marks=needs("conversion")),
        (("TAB", "inspect", "--da"), "--data"),
        (("TAB", "build", "--board", "me"), "mega2560"),
    ],
    ids=["inspect", "boards", "train", "a kind", "tune", "convert", "an option", "a board"],
)
def test_a_command_that_only_reads_imports_no_more(words: tuple[str, ...], printed: str) -> None:
    text, packages, _ = started(*words)
    assert printed in text
    allowed = {"requests", "platformio", "elftools"} if "build" in words else set()
    assert packages & set(HEAVY) <= allowed


def test_the_demo_imports_no_training_for_its_help() -> None:
    text, packages, modules = started("demo", "--help")
    assert "--board" in text
    assert not {"sklearn", "scipy", "matplotlib", "optuna"} & packages
    assert "protonn_edge.cli.fitting" not in modules


@pytest.mark.parametrize(
    "words",
    [
        ("train", "missing.csv", "-o", "m.npz"),
        ("train", MODEL, "-o", "m.npz", "--trees", "1"),
        ("train", MODEL, "-o", "m.npz", "--no-such", "1"),
        ("train", MODEL, "-o", "m.npz", "--budget", "2kB", "--prototypes", "10"),
        ("tune", "missing.csv", "-o", "m.npz"),
        ("tune", MODEL, "-o", "m.npz", "--trees", "1"),
        ("tune", MODEL, "-o", "m.npz", "--jobs", "tcp://"),
        ("convert", "missing.skops", "-o", "m.npz"),
        ("convert", "missing.npz", "-o", "folder"),
        ("convert", MODEL, "-o", "folder", "--budget", "1kB"),
        ("convert", MODEL, "-o", "folder", "--data", "missing.csv"),
    ],
    ids=lambda words: " ".join(Path(word).name for word in words),
)
def test_what_is_wrong_at_a_glance_is_refused_before_training_is_imported(
    words: tuple[str | Path, ...],
) -> None:
    _, packages, _ = started(*map(str, words), code=2)
    assert not {"sklearn", "scipy", "optuna"} & packages


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table of irises, a model of it, and its built project."""
    folder = tmp_path_factory.mktemp("tour")
    X, y = load_iris(return_X_y=True)
    table = np.column_stack([X, y])
    np.savetxt(folder / "iris.csv", table, "%g", ",", header="a,b,c,d,label", comments="")
    started("train", f"{folder}/iris.csv", "-o", f"{folder}/m.npz")
    started("build", f"{folder}/m.npz", "-o", f"{folder}/p")  # keeps what a linear program gives
    return folder


@pytest.mark.parametrize(
    "words",
    [
        "train {}/iris.csv -o {}/m.npz",
        "train {}/iris.csv -o {}/dense.npz --classifier dense",
        "build {}/m.npz -o {}/p",
        "verify {}/m.npz {}/iris.csv",
        "hil {}/iris.csv --project {}/p --emulate -o {}/results.csv",
    ],
)
def test_the_tour_of_a_table_imports_no_scikit_learn(tour: Path, words: str) -> None:
    _, packages, _ = started(*words.replace("{}", str(tour)).split())
    assert not {"sklearn", "scipy", "pandas", "joblib", "matplotlib"} & packages


def test_inspecting_a_model_imports_nothing_that_reads_data() -> None:
    *_, modules = started("inspect", str(MODEL))
    assert not {f"protonn_edge.data.{name}" for name in ("reading", "tables")} & modules
    assert (
        not {f"protonn_edge.model.quantization.{name}" for name in ("stage_loss", "bonsai")}
        & modules
    )


@pytest.mark.parametrize("words", [("--version",), ("--help",), ("TAB", "in"), ("TAB", "--")])
def test_no_command_is_imported_to_list_them(words: tuple[str, ...]) -> None:
    _, packages, modules = started(*words)
    assert "numpy" not in packages
    assert not {*MODULES.values()} & modules


def test_what_each_command_does_fits_a_line_of_80_columns() -> None:
    text, *_ = started("--help")
    lines = dict(line.split(maxsplit=1) for line in text.split("Commands:\n")[1].splitlines())
    assert list(lines) == list(COMMANDS) == list(every_command())
    assert list(lines.values()) == list(COMMANDS.values())
    assert max(map(len, text.splitlines())) <= 80


def test_the_package_is_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "protonn_edge", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"protonn-edge, version {protonn_edge.__version__}\n"


@pytest.mark.parametrize("name", LAZY)
def test_every_public_name_is_there(name: str) -> None:
    package = import_module(name)
    assert package.__all__ == [name for name in dir(package) if not name.startswith("__")]
    for each in package.__all__:
        assert getattr(package, each) is not None
        # Importing a module of this name would put it in the other's place.
        assert find_spec(f"{name}.{each}") is None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = package.no_such_name


def test_reading_a_model_from_python_does_not_import_scikit_learn() -> None:
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from protonn_edge import load_model, make_plan, quantize\n"
        "plan = make_plan(quantize(load_model(Path(sys.argv[1]))))\n"
        "assert plan.cycles > 0\nassert not {'sklearn', 'scipy'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(MODEL)], check=True)
