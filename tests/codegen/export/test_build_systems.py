"""An export of any kind is a library for CMake, ESP-IDF and Zephyr as it is.

ESP-IDF and Zephyr are much larger than all else here: a few lines of CMake stand in for them, with
the functions that they have for libraries.
"""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

import kconfiglib
import pytest
import yaml
from arduino_ide import export_for_uno, spoil_score_of_vector_7
from avr_tools import missing, needs
from model_factory import random_inputs, random_model

from protonn_edge.codegen.export import Export, Kind, export
from protonn_edge.model.quantization import quantize

needs_cmake = pytest.mark.skipif(
    os.name != "posix" or bool(missing("cmake", "cc", "c++")),
    reason="needs cmake, cc and c++; to run: make cmake, on Linux or macOS",
)
HEAD = "cmake_minimum_required(VERSION 3.13)\nproject(program {})\n"
ESP_IDF = """
set(ESP_PLATFORM 1)
set(COMPONENT_NAME wave)
function(idf_component_register)
  cmake_parse_arguments(given "" "" "SRCS;INCLUDE_DIRS" ${ARGN})
  add_library(wave STATIC ${given_SRCS})
  target_include_directories(wave PUBLIC ${given_INCLUDE_DIRS})
endfunction()
function(idf_component_set_property component name value)
  set_target_properties(${component} PROPERTIES ${name} ${value})
endfunction()
"""
ESP_IDF_REQUIREMENTS = """
macro(idf_component_register)
  message("registered: ${ARGN}")
  return()
endmacro()
include(${CMAKE_CURRENT_LIST_DIR}/wave/CMakeLists.txt)
"""
ZEPHYR = """
set(ZEPHYR_CURRENT_MODULE_DIR here)
function(zephyr_library_named name)
  add_library(${name} STATIC)
  set(zephyr_library ${name} PARENT_SCOPE)
endfunction()
function(zephyr_library_sources)
  target_sources(${zephyr_library} PRIVATE ${ARGN})
endfunction()
function(zephyr_include_directories folder)
  target_include_directories(${zephyr_library} PUBLIC ${folder})
endfunction()
"""
ARM = """
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_C_FLAGS "-mcpu=cortex-m4 -mthumb -Wall -Wextra -Wpedantic -Werror")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
"""
SELF_TEST = """
#include "wave_self_test.h"
int main(void) { struct wave_difference first; return wave_self_test(&first); }
"""


def cmake(*words: object, fails: bool = False) -> str:
    """Run cmake, and return what it prints; assert that it succeeds, or `fails`."""
    done = subprocess.run(
        ["cmake", *map(str, words)], capture_output=True, text=True, timeout=200, check=False
    )
    assert (done.returncode != 0) is fails, done.stdout + done.stderr
    return done.stdout + done.stderr


def built(source: Path, *options: str) -> Path:
    """Configure and build a folder; return that of the binaries."""
    binaries = source.parent / f"{source.name} built"
    assert "Warning" not in cmake("-S", source, "-B", binaries, *options)
    cmake("--build", binaries)
    return binaries


def program(folder: Path, text: str, main: str, *libraries: str, language: str = "C") -> str:
    """Build a program with CMake that links libraries, and return what it prints."""
    source, linked = f"main.{language.lower()}", " ".join(libraries)
    (folder / source).write_text(main)
    app = f"add_executable(app {source})\ntarget_link_libraries(app {linked})\n"
    (folder / "CMakeLists.txt").write_text(f"{HEAD.format(language)}{text}\n{app}")
    done = subprocess.run(
        [built(folder) / "app"], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def wave(folder: Path, kind: Kind = "c") -> Export:
    return export_for_uno(random_model(), kind, folder / "wave")


@needs_cmake
@pytest.mark.parametrize("kind", ["arduino", "platformio", "c"])
def test_ctest_runs_the_self_test(tmp_path: Path, kind: Kind):
    prefix = wave(tmp_path, kind).prefix
    command = ["ctest", "--timeout", "30", "--test-dir", built(tmp_path / "wave")]
    assert "100% tests passed, 0 tests failed out of 1" in subprocess.check_output(
        command, text=True, timeout=60
    )
    if kind == "c":
        spoil_score_of_vector_7(tmp_path / "wave" / f"{prefix}_self_test.c")
        built(tmp_path / "wave")
        assert subprocess.run(command, capture_output=True, timeout=60, check=False).returncode != 0


ODD = ("wave", "My model, v2", "class", "test", "7 höhe", "X" * 40, "math", "pnn_model", "arduino")


@needs_cmake
def test_models_of_any_names_answer_in_one_program_what_numpy_does(tmp_path: Path):
    """Names that are a target of CMake, a word of C, a header, too long, or nothing in the end.

    The program is C++ alone, which the libraries are not.
    """
    adds, includes, calls, expected, targets = "", "", "", "", []
    for seed, name in enumerate(ODD):
        model = random_model(seed, features=4, projections=3)
        done = export(model, "c", tmp_path / name, tries=False)
        p = done.prefix
        adds += f'add_subdirectory("{name}")\n'
        targets.append(done.name)
        includes += f'#include "{p}_model.h"\n'
        reference = quantize(model)
        Q = random_inputs(seed, 3, reference)
        for row, scores in zip(Q.tolist(), reference.scores(Q).tolist(), strict=True):
            point = ", ".join(map(str, row))
            calls += f"{{ const {p}_input_t x[] = {{{point}}}; (void){p}_predict(x);\n"
            calls += f'for (int l = 0; l < 4; ++l) printf("%ld ", (long){p}_scores()[l]); }}\n'
            expected += "".join(f"{score} " for score in scores)
    assert len(set(targets)) == len(ODD)
    main = f"#include <stdio.h>\n{includes}int main(void) {{\n{calls}return 0; }}\n"
    assert program(tmp_path, adds, main, *targets, language="CXX") == expected


@needs_cmake
def test_equal_names_in_two_models_do_not_link(tmp_path: Path):
    for seed, name in enumerate(("wave", "knock")):
        export(random_model(seed), "c", tmp_path / name, prefix="pnn", tries=False)
        use = f'#include "{name}/pnn_model.h"\nint {name}(void) {{ return pnn_finish(); }}\n'
        (tmp_path / f"use_{name}.c").write_text(use)
    (tmp_path / "main.c").write_text(
        "int wave(void);\nint knock(void);\nint main(void) { return wave() + knock(); }\n"
    )
    (tmp_path / "CMakeLists.txt").write_text(
        f"{HEAD.format('C')}add_subdirectory(wave)\nadd_subdirectory(knock)\n"
        "add_executable(app main.c use_wave.c use_knock.c)\n"
        "target_link_libraries(app wave knock)\n"
    )
    binaries = tmp_path / "binaries"
    cmake("-S", tmp_path, "-B", binaries)
    said = cmake("--build", binaries, fails=True)
    assert "multiple definition" in said or "duplicate symbol" in said


@needs_cmake
@needs("arm-none-eabi-gcc")
@pytest.mark.parametrize("board", ["uno", "uno-r4-minima"])
def test_another_chip_has_the_library_alone(tmp_path: Path, board: str):
    export(random_model(), "c", tmp_path / "wave", board, tries=False)
    (tmp_path / "arm.cmake").write_text(ARM)
    binaries = built(tmp_path / "wave", f"-DCMAKE_TOOLCHAIN_FILE={tmp_path / 'arm.cmake'}")
    compiled = [path for path in binaries.rglob("*.c.o*") if path.suffix != ".d"]
    objects = {path.name.split(".")[0]: path.read_bytes() for path in compiled}
    assert set(objects) == {"wave_model", "wave_self_test"}  # main.c is for this computer
    assert b".text.wave_class_name" in objects["wave_model"]  # linkers leave it out if unused


@needs_cmake
def test_esp_idf_has_a_component(tmp_path: Path):
    wave(tmp_path)
    program(tmp_path, f"{ESP_IDF}add_subdirectory(wave)", SELF_TEST, "wave")
    # ESP-IDF first reads the file without a project, as far as to the registration.
    (tmp_path / "early.cmake").write_text(ESP_IDF_REQUIREMENTS)
    printed = cmake("-DESP_PLATFORM=1", "-P", tmp_path / "early.cmake")
    assert printed == "registered: SRCS;wave_model.c;wave_self_test.c;INCLUDE_DIRS;.\n"


@needs_cmake
@pytest.mark.parametrize("kind", ["arduino", "c"])
def test_zephyr_has_a_module(tmp_path: Path, kind: Kind):
    prefix = wave(tmp_path, kind).prefix
    text = f"{ZEPHYR}set(CONFIG_{prefix.upper()}_MODEL y)\nadd_subdirectory(wave)"
    program(tmp_path, text, SELF_TEST.replace("wave", prefix), "wave")


@needs_cmake
def test_an_application_of_zephyr_may_add_the_folder_itself(tmp_path: Path):
    """Then it is no library of Zephyr, but compiled with the options of these."""
    wave(tmp_path)
    options = "target_compile_definitions(zephyr_interface INTERFACE wave_begin=chosen)"
    text = f"add_library(zephyr_interface INTERFACE)\n{options}\nadd_subdirectory(wave)"
    program(tmp_path, text, "void chosen(void);\nint main(void) { chosen(); return 0; }\n", "wave")


@needs_cmake
def test_a_module_of_zephyr_is_left_out_without_its_symbol(tmp_path: Path):
    wave(tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(
        f"{HEAD.format('C')}{ZEPHYR}add_subdirectory(wave)\n"
        "if(TARGET wave)\n  message(FATAL_ERROR there)\nendif()\n"
    )
    built(tmp_path)


@pytest.mark.parametrize("name", ODD)
def test_kconfig_has_a_symbol_that_may_be_chosen(tmp_path: Path, name: str):
    done = export(random_model(), "c", tmp_path / name, tries=False)
    kconfig = kconfiglib.Kconfig(tmp_path / name / "zephyr" / "Kconfig", warn_to_stderr=False)
    (symbol,) = kconfig.unique_defined_syms
    assert symbol.name == f"{done.prefix}_model".upper()
    assert symbol.str_value == "n"
    assert symbol.set_value("y")
    assert kconfig.write_config(tmp_path / "config")
    assert f"CONFIG_{symbol.name}=y\n" in (tmp_path / "config").read_text()
    assert kconfig.warnings == []
    module = yaml.safe_load((tmp_path / name / "zephyr" / "module.yml").read_text())
    assert module["name"] == done.name
    assert (tmp_path / name / module["build"]["kconfig"]).is_file()


@pytest.mark.parametrize("kind", ["arduino", "platformio", "c"])
def test_the_archive_of_a_component_has_what_esp_idf_needs(tmp_path: Path, kind: Kind):
    prefix = wave(tmp_path, kind).prefix
    folder = tmp_path / "wave"
    manifest = yaml.safe_load((folder / "idf_component.yml").read_text())
    left = {path for path in folder.rglob("*") if path.is_file()}
    for pattern in manifest["files"]["exclude"]:
        left -= {*folder.glob(pattern)}
    names = {path.relative_to(folder).as_posix().removeprefix("src/") for path in left}
    parts = ("inputs.h", "model.c", "model.h", "self_test.c", "self_test.h")
    sources = {f"{prefix}_{name}" for name in parts}
    others = {"CMakeLists.txt", "LICENSE", "README.md", "idf_component.yml"}
    for_this_computer = {"main.c", "Makefile"} if kind == "c" else {"wave.h", "extras/main.c"}
    assert names == sources | others | for_this_computer


@pytest.mark.skipif(
    bool(missing("compote")),
    reason="compote is not on PATH; to run: pip install idf-component-manager",
)
def test_the_component_manager_packs_it(tmp_path: Path):
    wave(tmp_path)
    command = ["compote", "component", "pack", "--name", "wave"]
    subprocess.run(command, cwd=tmp_path / "wave", timeout=60, check=True)
    (archive,) = (tmp_path / "wave" / "dist").glob("*.tgz")
    with tarfile.open(archive) as packed:
        names = {Path(name).as_posix() for name in packed.getnames()}
    assert {"idf_component.yml", "CMakeLists.txt", "wave_model.c", "wave_model.h"} <= names
    assert not names & {".protonn-edge-export", "keywords.txt", "zephyr/Kconfig"}
