"""What is installed or started is of one version, and sends nothing."""

from __future__ import annotations

import configparser
import json
import re
import tomllib

import pytest
from checkout import CHECKOUT, skip_unless_checked_out

from protonn_edge.chips.toolchain import platformio


def test_the_platform_is_pinned_to_the_version_of_its_stand_in():
    skip_unless_checked_out("platformio.ini")
    settings = configparser.ConfigParser(inline_comment_prefixes=";")
    settings.read(CHECKOUT / "platformio.ini", encoding="utf-8")
    shim = CHECKOUT / "protonn_edge/chips/toolchain/shim/platforms/atmelavr/platform.json"
    version = json.loads(shim.read_text("utf-8"))["version"]
    assert settings["avr"]["platform"] == f"atmelavr@{version}"
    example = CHECKOUT / "templates/export/platformio/platformio.ini.j2"
    assert f"platform = atmelavr@{version}\n" in example.read_text("utf-8")


def test_an_isolated_build_takes_the_hatchling_of_the_constraints():
    skip_unless_checked_out("constraints.txt")
    build = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["build-system"]
    assert len(build["requires"]) == 1
    assert build["requires"][0] in (CHECKOUT / "constraints.txt").read_text("utf-8").splitlines()


def test_another_version_of_the_stock_platform_does_not_count(monkeypatch, tmp_path):
    monkeypatch.setenv("PLATFORMIO_CORE_DIR", str(tmp_path))
    for folder in ("platforms/atmelavr", "packages/toolchain-atmelavr", "packages/tool-scons"):
        (tmp_path / folder).mkdir(parents=True)
    manifest = tmp_path / "platforms" / "atmelavr" / "platform.json"
    for text, counts in (
        ('{"version": "5.0.0"}', True),
        ('{"version": "4.2.0"}', False),
        ("[]", False),
        ("", False),
    ):
        manifest.write_text(text, encoding="utf-8")
        assert platformio._stock_platform_is_installed() is counts


@pytest.mark.parametrize(("own", "expected"), [(None, "no"), ("yes", "yes")])
def test_telemetry_is_off_with_the_stock_platform_unless_the_user_wants_it(
    monkeypatch, own, expected
):
    name = "PLATFORMIO_SETTING_ENABLE_TELEMETRY"
    monkeypatch.setenv("PROTONN_EDGE_PLATFORMIO", "stock")
    monkeypatch.delenv(name, raising=False)
    if own is not None:
        monkeypatch.setenv(name, own)
    assert platformio.pio_environment()[name] == expected


def test_telemetry_is_off_in_make():
    skip_unless_checked_out("Makefile")
    lines = (CHECKOUT / "Makefile").read_text("utf-8").splitlines()
    assert any(
        re.match(r"export PLATFORMIO_SETTING_ENABLE_TELEMETRY \?= no$", each) for each in lines
    )
