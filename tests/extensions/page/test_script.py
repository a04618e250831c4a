"""The page's script: ready in a wheel, else made once; where it cannot be made, a reason."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from protonn_edge.chips.toolchain import javascript
from protonn_edge.chips.toolchain.javascript import PAGE
from protonn_edge.report.content import page_script


@pytest.fixture
def web(tmp_path, monkeypatch):
    """Give a folder of sources, and an empty cache."""
    folder = tmp_path / "web"
    shutil.copytree(javascript.scripts_folder(), folder)
    monkeypatch.setattr(javascript, "resources", lambda _: [folder])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def test_a_script_that_is_ready_is_taken_as_it_is(web, monkeypatch):
    monkeypatch.setenv("PATH", "")
    (web / PAGE).write_text("ready()")
    assert page_script().text == "ready()"


def test_without_npm_there_is_a_reason(web, monkeypatch):
    monkeypatch.setenv("PATH", "")
    made = page_script()
    assert made.text is None
    assert made.missing == "cannot find node and npm on PATH; install Node.js 20 or newer"


def test_without_a_registry_there_is_a_reason_and_nothing_is_kept(web, monkeypatch, tmp_path):
    def no_network(_deadline_s, command, **_):
        return subprocess.CompletedProcess(command, 1, "", "npm warn x\nnpm error code ENOTFOUND\n")

    monkeypatch.setattr(javascript.shutil, "which", lambda tool: tool)
    monkeypatch.setattr(javascript, "run_within", no_network)
    made = page_script()
    assert made.text is None
    assert "npm error code ENOTFOUND" in made.missing
    assert not list((tmp_path / "cache").rglob("web*"))


def test_the_packages_are_pinned_and_name_no_registry():
    web = javascript.scripts_folder()
    lock = (web / "package-lock.json").read_text()
    assert "://" not in lock
    assert '"integrity": "sha512-' in lock
    assert '"avr8js": "0.21.1"' in (web / "package.json").read_text()


def test_it_has_the_license_of_what_is_inside():
    made = page_script()
    if made.text is None:
        pytest.skip(f"needs the page's script; to run: {made.missing}")
    assert made.text.startswith("/*! with avr8js\nThe MIT License")
    assert "sourceMappingURL" not in made.text
