"""What compilers made is kept for as long as all that they read is the same."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from avr_tools import skip_without
from kept_compilers import KeptCompilers

MAIN = "int main(void) { return 0; }\n"


class Compiling:
    """A folder, with a compiler whose runs are counted."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.runs = folder / "sources", 0
        self.folder.mkdir()
        self.environment = dict(os.environ)
        self.kept = folder / "kept"

    def write(self, **files: str) -> None:
        """Write files; ``__`` is a folder's end, and ``_`` the dot before a suffix."""
        for name, text in files.items():
            path = self.folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def __call__(self, command: str) -> bytes:
        """Compile; return the product's bytes."""
        words = command.split()

        def compile_(environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
            self.runs += 1
            return subprocess.run(
                words,
                cwd=self.folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )

        product = self.folder / words[words.index("-o") + 1]
        product.unlink(missing_ok=True)
        done = KeptCompilers(self.kept).run(words, self.folder, self.environment, compile_)
        assert done is not None
        return product.read_bytes() if done.returncode == 0 else b""


@pytest.fixture
def compiled(tmp_path: Path) -> Compiling:
    """Return a function that compiles."""
    skip_without("gcc")
    return Compiling(tmp_path)


@pytest.mark.parametrize(
    ("name", "command", "source"),
    [
        ("inc__x_h", "gcc -c a.c -o a.o", '#include "inc/x.h"'),
        ("inc__x_h", "gcc -isystem inc -c a.c -o a.o", "#include <x.h>"),
        ("inc__x_h", "gcc @words -c a.c -o a.o", "#include <x.h>"),
        ("part_c", "gcc -c a.c -o a.o", '#include "part.c"'),
        ("up__x_h", "gcc -Iup/down -c a.c -o a.o", "#include <../x.h>"),
        ("x_h", "gcc -include x.h -c a.c -o a.o", ""),
    ],
)
def test_a_header_wherever_it_is_makes_another_program(
    name: str, command: str, source: str, compiled: Compiling
) -> None:
    (compiled.folder / "up" / "down").mkdir(parents=True)
    compiled.write(a_c=f"{source}\nint x = X;\n", words="-Iinc")
    first = None
    for value in (1, 2):
        compiled.write(**{name: f"#define X {value}\n"})
        made = compiled(command)
        assert made not in (b"", first)
        assert compiled(command) == made
        first = made
    assert compiled.runs == 2


def test_a_header_that_comes_earlier_in_the_path_makes_another_program(
    compiled: Compiling,
) -> None:
    compiled.write(a_c="#include <x.h>\nint x = X;\n", one__other_h="", two__x_h="#define X 1\n")
    before = compiled("gcc -Ione -Itwo -c a.c -o a.o")
    compiled.write(one__x_h="#define X 2\n")
    assert compiled("gcc -Ione -Itwo -c a.c -o a.o") != before


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("script_ld", "gcc -Wl,-T,script.ld a.c -o a -nostdlib -static"),
        ("script_ld", "gcc -T script.ld a.c -o a -nostdlib -static"),
        ("words", "gcc @words a.c -o a -nostdlib -static"),
    ],
)
def test_a_script_or_a_file_of_words_makes_another_program(
    name: str, command: str, compiled: Compiling
) -> None:
    compiled.write(a_c="int x = 1;\n")
    texts = {"words": "-DX={0} -Wl,--defsym=here=0x{0}000"}
    text = texts.get(name, "SECTIONS {{ . = 0x{0}0000; .data : {{ *(.data) }} }}\n")
    compiled.write(**{name: text.format(1)})
    before = compiled(command)
    compiled.write(**{name: text.format(2)})
    assert compiled(command) not in (b"", before)
    assert compiled.runs == 2


@pytest.mark.parametrize("variable", ["CPATH", "C_INCLUDE_PATH"])
def test_a_variable_of_the_environment_makes_another_program(
    variable: str, compiled: Compiling
) -> None:
    compiled.write(a_c="#include <x.h>\nint x = X;\n", inc__x_h="#define X 1\n")
    compiled.environment[variable] = str(compiled.folder / "inc")
    assert compiled("gcc -c a.c -o a.o")
    del compiled.environment[variable]
    assert compiled("gcc -c a.c -o a.o") == b""


def test_another_compiler_of_the_same_name_makes_another_program(
    compiled: Compiling, tmp_path: Path
) -> None:
    compiled.write(a_c=MAIN)
    assert compiled("gcc a.c -o a")
    tools = tmp_path / "tools"
    tools.mkdir()
    other = tools / "gcc"
    other.write_text(f'#!/bin/sh\nexec {shutil.which("gcc")} -DOTHER -O3 "$@"\n')
    other.chmod(0o755)
    compiled.environment["PATH"] = f"{tools}:{compiled.environment['PATH']}"
    assert compiled("gcc a.c -o a")
    assert compiled.runs == 2


def test_the_same_sources_elsewhere_make_the_same_program(
    compiled: Compiling, tmp_path: Path
) -> None:
    compiled.write(a_c='#include "x.h"\nint main(void) { return X; }\n', inc__x_h="#define X 3\n")
    assert compiled(f"gcc -I{compiled.folder / 'inc'} {compiled.folder / 'a.c'} -o a")
    moved = tmp_path / "moved"
    compiled.folder.rename(moved)
    compiled.folder = moved
    assert compiled(f"gcc -I{moved / 'inc'} {moved / 'a.c'} -o a")
    assert compiled.runs == 1
    assert subprocess.run([moved / "a"], check=False).returncode == 3


def test_two_programs_that_differ_in_a_header_are_both_kept(compiled: Compiling) -> None:
    compiled.write(a_c='#include "x.h"\nint main(void) { return X; }\n')
    for value in (1, 2, 1, 2):
        compiled.write(x_h=f"#define X {value}\n")
        compiled("gcc a.c -o a")
        assert subprocess.run([compiled.folder / "a"], check=False).returncode == value
    assert compiled.runs == 2


def test_all_that_a_compiler_writes_beside_its_product_is_kept(compiled: Compiling) -> None:
    compiled.write(a_c=MAIN)
    compiled("gcc -fstack-usage -c a.c -o a.o")
    notes = (compiled.folder / "a.su").read_text()
    (compiled.folder / "a.su").unlink()
    compiled("gcc -fstack-usage -c a.c -o a.o")
    assert (compiled.folder / "a.su").read_text() == notes
    assert compiled.runs == 1


@pytest.mark.parametrize("text", ["#warning look\n" + MAIN, "int main(void) { return x; }\n"])
def test_what_a_compiler_has_a_word_about_is_not_kept(text: str, compiled: Compiling) -> None:
    compiled.write(a_c=text)
    for _ in range(2):
        compiled("gcc a.c -o a")
    assert compiled.runs == 2


@pytest.mark.parametrize("spoil", [lambda _: b"", lambda content: content[:-1]])
def test_a_file_that_is_incomplete_is_not_used(
    spoil: Callable[[bytes], bytes], compiled: Compiling
) -> None:
    compiled.write(a_c=MAIN)
    made = compiled("gcc a.c -o a")
    for file in compiled.kept.iterdir():
        file.write_bytes(spoil(file.read_bytes()))
    assert compiled("gcc a.c -o a") == made
    assert compiled.runs == 2
