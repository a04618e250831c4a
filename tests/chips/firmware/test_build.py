"""The firmware compiles without a warning, stays small, and says what is wrong with its model."""

from __future__ import annotations

import subprocess

import pytest

from protonn_edge.model.integer_stage import MOST_FEATURES, check_counts
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import resource

FIRMWARE = resource("firmware")


def compile_main(sources, *flags: str) -> str:
    """Return what the compiler says about the file that includes the model."""
    command = ["avr-gcc", "-mmcu=atmega328p", "-std=gnu99", "-O2", *flags]
    result = subprocess.run(
        [*command, "-fsyntax-only", sources / "requests.c"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode != 0
    return result.stderr


def section_bytes(elf) -> dict[str, int]:
    lines = subprocess.run(
        ["avr-size", "-A", elf], capture_output=True, text=True, timeout=60, check=True
    ).stdout.splitlines()
    return {row[0]: int(row[1]) for row in map(str.split, lines) if row and row[0][0] == "."}


def test_flash_and_sram_without_a_model_stay_small(build):
    elf = build(FAKE_NOTHING=1, FAKE_PROJECTIONS="1u")  # the largest chunk
    sections, model = section_bytes(elf), section_bytes(elf.with_name("pnn_model.o"))
    model_bytes = sum(
        size for name, size in model.items() if name.startswith((".text", ".progmem"))
    )
    assert sections[".text"] + sections.get(".data", 0) - model_bytes < 2400
    assert sections.get(".data", 0) + sections[".bss"] + sections[".noinit"] < 150


def test_stack_frames_are_bounded(build):
    folder = build().parent
    frames = [
        line.split("\t") for su in folder.glob("*.su") for line in su.read_text().splitlines()
    ]
    assert len(frames) > 20
    assert {kind for _, _, kind in frames} == {"static"}
    assert max(int(size) for _, size, _ in frames) <= 24


def test_no_function_is_called_through_a_pointer(build):
    code = subprocess.run(
        ["avr-objdump", "-d", build()], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert "icall" not in code
    assert "ijmp" not in code


def test_without_a_model_the_compiler_names_the_command_that_makes_one(firmware_copy):
    words = compile_main(firmware_copy(with_model=False))
    assert "No model yet: run `protonn-edge build model.npz`" in words


@pytest.mark.parametrize("version", [0, 2])
def test_a_model_for_another_firmware_must_be_generated_again(firmware_copy, version):
    words = compile_main(firmware_copy(), f"-DFAKE_API_VERSION={version}")
    assert "remove firmware/ and run protonn-edge build" in words


@pytest.mark.parametrize("limit", ["FAKE_CLASSES=256", "FAKE_FEATURES=65001u"])
def test_a_model_that_the_protocol_cannot_carry_does_not_compile(firmware_copy, limit):
    words = compile_main(firmware_copy(), f"-D{limit}")
    assert "at most 255 classes and 65,000 features" in words


def test_the_protocol_carries_as_many_features_as_the_quantizer_allows():
    with pytest.raises(InputError, match=f"65,001, but .* to {MOST_FEATURES:,}"):
        check_counts(features=MOST_FEATURES + 1)
    check_counts(features=MOST_FEATURES)
    assert f"PNN_FEATURES > {MOST_FEATURES}\n" in (FIRMWARE / "model.h").read_text("utf-8")
    assert f"{MOST_FEATURES:,} features" in (FIRMWARE / "PROTOCOL.md").read_text("utf-8")


def test_it_compiles_with_other_optimizations_too(firmware_copy, tmp_path):
    sources = sorted(firmware_copy().rglob("*.c"))
    flags = [
        "-mmcu=atmega328p",
        "-DF_CPU=16000000L",
        "-std=gnu99",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
    ]
    for level in ("-Os", "-O1", "-O3", "-Os -flto"):
        command = ["avr-gcc", *flags, *level.split(), *sources, "-o", tmp_path / "firmware.elf"]
        subprocess.run(command, check=True, timeout=60)
