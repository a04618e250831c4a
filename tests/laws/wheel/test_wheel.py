"""The wheel holds all that the package needs, and works where there is no checkout."""

from __future__ import annotations

import json
import tarfile
import zipfile
from pathlib import Path

import pytest
from avr_tools import needs_avr_gcc
from checkout import CHECKOUT
from model_factory import random_model
from one_process import answers_of

from protonn_edge import __version__
from protonn_edge.chips.toolchain.javascript import EMULATOR, PAGE, SCRIPTS
from protonn_edge.model.file import save_model
from protonn_edge.report.content import page_script

WEB_SCRIPTS = {f"protonn_edge/extensions/page/scripts/{name}" for name in SCRIPTS}
MADE = {"__pycache__", "generated", "_build", "node_modules"}  # by builds


def files_of(name):
    """Return a file or the files of a folder of the checkout, without what is made there."""
    top = CHECKOUT / name
    paths = [path.relative_to(CHECKOUT) for path in [top, *top.rglob("*")] if path.is_file()]
    found = {path.as_posix() for path in paths if not MADE & {*path.parts}}
    assert found, f"{top} has no files"
    return found


@pytest.fixture(scope="module")
def names(wheel):
    """Return the names of all files in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_it_is_for_every_machine(wheel):
    assert wheel.name == f"protonn_edge-{__version__}-py3-none-any.whl"


@pytest.mark.parametrize("name", ["templates", "firmware", "hil_tests", "platformio.ini"])
def test_top_level_files_are_inside_of_the_package(names, name):
    wanted = {f"protonn_edge/{path}" for path in files_of(name)}
    assert wanted
    inside = {path for path in names if path.startswith(f"protonn_edge/{name}")}
    assert inside - WEB_SCRIPTS == wanted


def test_type_checkers_find_its_types(names):
    stubs = {path for path in files_of("protonn_edge") if path.endswith((".pyi", "py.typed"))}
    assert len(stubs) >= 2
    assert names >= stubs


def test_the_scripts_are_made_for_it_and_for_the_sdist(names, sdist):
    made = page_script()
    if made.text is None:
        pytest.skip(f"needs the page's script; to run: {made.missing}")
    assert names >= WEB_SCRIPTS
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/scripts/")[2] for name in archive.getnames()}
    assert {*SCRIPTS} <= packed


def test_the_installed_scripts_need_no_npm(names, run, monkeypatch):
    if not names >= WEB_SCRIPTS:
        pytest.skip("the wheel was built without npm; to run: install Node.js 20 or newer")
    monkeypatch.setenv("PATH", "")
    script = "from protonn_edge.chips.toolchain.javascript import *; "
    for name in (PAGE, EMULATOR):
        said = run("-c", f"{script}print(script_file({name!r}).stat().st_size)").stdout
        assert int(said) > 10_000


def test_the_package_is_whole(names):
    assert files_of("protonn_edge") <= names


def test_nothing_else_is_in_it(names):
    metadata = f"protonn_edge-{__version__}.dist-info/"
    assert all(name.startswith(("protonn_edge/", metadata)) for name in names)
    assert not [name for name in names if "__pycache__" in name or "/generated/" in name]
    assert f"{metadata}licenses/LICENSE" in names


def test_the_sdist_holds_what_tests_and_builds_need(sdist):
    top = f"protonn_edge-{__version__}/"
    with tarfile.open(sdist) as archive:
        packed = {name.removeprefix(top) for name in archive.getnames()}
    for name in ("Makefile", "constraints.txt", "tests", "hil_tests", "docs", "firmware"):
        assert files_of(name) <= packed
    assert not [name for name in packed if name.startswith((".venv", ".git/", ".pio"))]


def test_it_is_imported_from_its_own_installation(run, installation):
    said = run("-c", "import protonn_edge; print(protonn_edge.__file__)").stdout
    assert Path(said.strip()).is_relative_to(installation)


@pytest.mark.parametrize("name", ["templates", "firmware", "hil_tests", "platformio.ini"])
def test_resources_are_found_without_the_checkout(run, installation, name):
    script = f"from protonn_edge.system.files import resource; print(resource({name!r}))"
    assert run("-c", script).stdout.strip() == str(installation / "protonn_edge" / name)


@needs_avr_gcc
def test_the_shim_for_platformio_is_found_without_the_checkout(run, monkeypatch, tmp_path):
    monkeypatch.setenv("PROTONN_EDGE_PLATFORMIO", "offline")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = run("-m", "protonn_edge.chips.toolchain")
    assert "export PLATFORMIO_CORE_DIR=" in done.stdout
    (core,) = (tmp_path / "cache" / "protonn-edge").iterdir()
    assert (core / "platforms" / "atmelavr" / "builder" / "main.py").is_file()
    assert (core / "packages" / "tool-scons" / ".piopm").is_file()


# --- the commands --------------------------------------------------------------------------------


@pytest.fixture
def protonn_edge(run, installation):
    """Return a function that runs the installed command and returns its one JSON object."""

    def run_command(*arguments):
        script = installation / "bin" / "protonn-edge"
        done = run(str(script), *arguments, "--json", check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run_command


@needs_avr_gcc
def test_a_model_becomes_a_firmware_without_the_checkout(protonn_edge, tmp_path, monkeypatch):
    monkeypatch.setenv("PROTONN_EDGE_PLATFORMIO", "offline")
    save_model(random_model(), tmp_path / "model.npz")
    result = protonn_edge("build", "--board", "uno", "model.npz")
    assert 0 < result["flash_bytes"] <= 32256
    assert 0 < result["sram_bytes"] + result["stack_bytes"] <= 2048
    assert (tmp_path / "platformio.ini").is_file()
    assert (tmp_path / "firmware" / "generated" / "pnn_model.c").is_file()


def test_a_model_becomes_a_library_without_the_checkout(installation, tmp_path):
    save_model(random_model(), tmp_path / "model.npz")
    kinds = ("arduino", "platformio", "c")
    commands = [f"export model.npz --{kind} {kind} --json" for kind in kinds]
    answers = answers_of(commands, installation, tmp_path)
    assert [each.stderr for each in answers.values() if each.returncode != 0] == []
    for kind, done in zip(kinds, answers.values(), strict=True):
        files = json.loads(done.stdout)["files"]
        assert files
        assert all((tmp_path / kind / name).is_file() for name in files)
