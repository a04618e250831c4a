"""A certificate says "proven" of nothing that is false, and refuses damaged files in a sentence."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from avr_programs import compile_text
from avr_tools import needs_avr_gcc
from command_line import refusal, run, run_json, succeed
from model_factory import plain_model
from refusals import refused_by, refuses

from protonn_edge.chips.boards import Board, load_board
from protonn_edge.codegen.export.exporting import export
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import build
from protonn_edge.extensions.proof.certificate.claims import (
    Certificate,
    Claim,
    Settings,
    read_certificate,
)
from protonn_edge.extensions.proof.certificate.program import certify_program
from protonn_edge.system.errors import InputError

pytestmark = needs_avr_gcc

PROGRAM = """
#include <stdint.h>
#include <stdlib.h>
uint8_t pnn_predict(const uint8_t *point) __attribute__((noinline));
volatile uint8_t answer;
static uint8_t features[4];
BEFORE
uint8_t pnn_predict(const uint8_t *point) { BODY return 1; }
int main(void) { answer = pnn_predict(features); for (;;) {} }
"""
LOOP = 'for (uint8_t i = 0; i < point[0]; ++i) { __asm__ volatile("LABEL:"); answer = i; }'
CIRCLE = "pnn_each.x.y.2.0.1:pnn_each.y.x.2.0.1"
PART = """void part(void) __asm__("pnn_predict.part.0");
__asm__(".global pnn_predict.part.0\\npnn_predict.part.0:\\n.rept 50\\nnop\\n.endr\\nret");"""
TABLE = """__asm__(".global hidden\\nhidden: rcall pnn_predict\\nret\\n"
    ".section .progmem.gcc_sw_table,\\"ax\\",@progbits\\n.L9: .word gs(hidden)\\n.text");"""
JUMP = """__asm__ volatile("ldi r30, lo8(gs(.L9))\\n ldi r31, hi8(gs(.L9))\\n"
    "rjmp __tablejump2__" ::: "r30", "r31");"""


def certified(folder: Path, body: str, before: str = "", flags: str = "-O1") -> dict[str, Claim]:
    """Return the claims about a program, by name."""
    text = PROGRAM.replace("BODY", body).replace("BEFORE", before)
    elf = compile_text(text, folder / "program.elf", flags)
    certificate = certify_program(elf, load_board("uno"), Settings("uno"))
    return {claim.name: claim for claim in certificate.claims}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("if (point[0]) for (;;) {}", "never returns"),
        ('__asm__ volatile("sleep");', "waits"),
        ('__asm__ volatile("break");', "waits"),
        ('__asm__ volatile("spm");', "waits"),
        ("if (point[0]) abort();", "never returns"),
        ("while (!point[0]) { answer = 1; }", "no label limits how often"),
        ("for (uint8_t i = point[0]; i; --i) { answer = i; }", "no label limits how often"),
        (LOOP.replace("LABEL", "pnn_each.x.x.5.0.1"), "labels that allow more than 1e+12"),
        (LOOP.replace("LABEL", CIRCLE), "labels that allow more than 1e+12"),
        (LOOP.replace("LABEL", "pnn_passed.x.5.0.0.1"), "no label limits how often"),
        (LOOP.replace("LABEL", "pnn_passed.x.5.9.1"), "no path that satisfies all labels"),
        (LOOP.replace("LABEL", f"pnn_passed.x.{'9' * 30}.0.1"), "no label limits how often"),
    ],
)  # fmt: skip
def test_a_function_without_a_bound_gets_none(tmp_path: Path, body: str, reason: str) -> None:
    claim = certified(tmp_path, body)["cycles-most"]
    assert claim.status == "not checked"
    assert reason in claim.by


def test_a_function_without_a_name_is_refused(tmp_path: Path) -> None:
    elf = compile_text("int main(void) { for (;;) {} }", tmp_path / "program.elf")
    with refused_by("codegen.families.avr.code"):
        certify_program(elf, load_board("uno"), Settings("uno", entry=""))  # not .do_clear_bss_loop


def test_what_labels_say_is_a_condition_of_the_claim(tmp_path: Path) -> None:
    claims = certified(tmp_path, LOOP.replace("LABEL", "pnn_passed.x.1.0.1"))
    for name in ("cycles-most", "cycles-least"):
        assert claims[name].status == "proven"
        assert claims[name].statement.endswith(", if the labels in the source are correct")


@pytest.mark.parametrize("limits", ["5.0.1:\\npnn_passed.x.6.0.2", "1", f"{'9' * 5000}.0.1"])
def test_labels_that_say_nothing_or_two_things_are_refused(tmp_path: Path, limits: str) -> None:
    body = LOOP.replace("LABEL", f"pnn_passed.x.{limits}")
    with refused_by("chips.avr.facts"):
        certified(tmp_path, body)


@pytest.mark.parametrize("limits", ["5.0.2", "6.0.2"])
def test_facts_of_two_models_are_not_one_because_their_names_are_equal(
    tmp_path: Path, limits: str
) -> None:
    def most(second: str) -> int | None:
        labels = ("one_passed.x.5.0.1", f"{second}.{limits}")
        body = "".join(LOOP.replace("LABEL", label) for label in labels)
        return certified(tmp_path, body)["cycles-most"].value

    apart = most("two_passed.y")
    assert apart is not None
    assert most("two_passed.x") == apart


TWICE = """uint8_t mine(const uint8_t *) __attribute__((noinline));
uint8_t mine(const uint8_t *point) { return pnn_predict(point) + pnn_predict(point + 1); }
int main(void) { answer = mine(features);"""


@pytest.mark.parametrize("name", ["mine", "my_predict"])
def test_a_function_that_predicts_twice_has_no_bound_without_a_condition(
    tmp_path: Path, name: str
) -> None:
    text = PROGRAM.replace("BODY", LOOP.replace("LABEL", "pnn_passed.x.5.0.1"))
    text = text.replace("BEFORE", "").replace(
        "int main(void) { answer = pnn_predict(features);", TWICE
    )
    elf = compile_text(text.replace("mine", name), tmp_path / "program.elf", "-O1")
    for entry, conditional in ((name, True), ("pnn_predict", False)):
        certificate = certify_program(elf, load_board("uno"), Settings("uno", entry))
        most = next(each for each in certificate.claims if each.name == "cycles-most")
        assert ("works on a single prediction" in most.statement) == conditional


def test_the_part_of_a_function_is_no_copy_of_it(tmp_path: Path) -> None:
    claims = certified(tmp_path, "if (point[0]) part();", PART)
    least, most = (claims[f"cycles-{name}"].value for name in ("least", "most"))
    assert least is not None
    assert most is not None
    assert least < 20  # without the part
    assert 60 < most < 80  # with it, once


def test_a_table_that_leads_elsewhere_is_a_condition_of_the_claims(tmp_path: Path) -> None:
    claims = certified(tmp_path, JUMP, TABLE)
    for name in ("stack", "no-recursion", "no-allocation", "no-floats"):
        assert claims[name].statement.endswith(
            ", if each jump table leads only into its own function"
        )
    assert claims["cycles-most"].status == "not checked"


def test_a_jump_to_the_allocator_is_a_call_of_it(tmp_path: Path) -> None:
    text = PROGRAM.replace("BODY", '__asm__ volatile("rjmp malloc");').replace("BEFORE", "")
    elf = compile_text(text, tmp_path / "jump.elf", "-O1")
    refuses(
        run("verify", elf, "-o", tmp_path / "c.json"),
        "extensions.proof.certificate.program",
        exit_code=1,
    )


def test_long_chains_of_calls_are_followed(tmp_path: Path) -> None:
    chain = "".join(
        f"static uint8_t __attribute__((noinline)) f{i}(uint8_t a) "
        f"{{ return {f'f{i - 1}(a + 1)' if i else 'a'} + answer; }}\n"
        for i in range(1200)
    )
    claims = certified(tmp_path, "answer = f1199(point[0]);", chain)
    assert claims["no-recursion"].status == "proven"
    assert "more than 200 nested calls" in claims["stack"].by


def test_a_program_for_another_chip_is_refused(tmp_path: Path) -> None:
    text = PROGRAM.replace("BODY", "").replace("BEFORE", "")
    elf = compile_text(text, tmp_path / "mega.elf", "-O1", mcu="atmega2560")
    refuses(run("verify", elf, "-o", tmp_path / "c.json"), "extensions.proof.certificate.program")
    run_json("verify", elf, "-o", tmp_path / "c.json", "--board", "mega2560")


def test_names_with_control_characters_and_markup_stay_text(tmp_path: Path) -> None:
    before = (
        'void evil(void) __asm__("evilname_"); void evil(void) { (*(void (*)(void))answer)(); }'
    )
    text = PROGRAM.replace("BODY", "evil();").replace("BEFORE", before)
    elf = compile_text(text, tmp_path / "program.elf", "-O1", "-fno-inline")
    elf.write_bytes(elf.read_bytes().replace(b"evilname_\0", b"<b>\x1b]0;x\x07\0"))
    done = run("verify", elf, "-o", tmp_path / "c.json", "-o", tmp_path / "c.html")
    assert "<b>?]0;x?" in refusal(done, exit_code=1)
    assert "\x1b" not in done.output


def damaged(contents: bytes, kind: str) -> bytes:
    """Return an ELF file with a fault in it."""
    edited = bytearray(contents)
    programs, sections = struct.unpack_from("<II", edited, 28)
    faults: dict[str, Callable[[], None]] = {
        "far away": lambda: struct.pack_into("<I", edited, programs + 12, 0x7FFF00),
        "no sections": lambda: struct.pack_into("<H", edited, 48, 0),
        "a huge section": lambda: struct.pack_into("<I", edited, sections + 40 + 20, 1 << 31),
        "a segment beyond the file": lambda: struct.pack_into("<I", edited, programs + 16, 1 << 28),
        "a section elsewhere": lambda: move_text(edited, sections),
        "another chip": lambda: struct.pack_into("<H", edited, 18, 62),
    }
    if kind in faults:
        faults[kind]()
        return bytes(edited)
    return contents[: len(contents) * int(kind) // 100]


def move_text(edited: bytearray, sections: int) -> None:
    """Let the section of code have other bytes than the segment."""
    executable = 6  # allocated, too
    for header in range(sections, len(edited) - 39, 40):
        if struct.unpack_from("<I", edited, header + 8)[0] == executable:
            offset, size = struct.unpack_from("<II", edited, header + 16)
            struct.pack_into("<I", edited, header + 16, len(edited))
            edited += edited[offset : offset + size - 2] + b"\x95\x08"
            return


@pytest.mark.parametrize(
    "kind",
    [*map(str, range(0, 100, 7)), "far away", "no sections", "a huge section",
     "a segment beyond the file", "a section elsewhere", "another chip"],
)  # fmt: skip
def test_a_damaged_program_is_refused(tmp_path: Path, kind: str) -> None:
    text = PROGRAM.replace("BODY", "").replace("BEFORE", "")
    elf = compile_text(text, tmp_path / "program.elf", "-O1")
    elf.write_bytes(damaged(elf.read_bytes(), kind))
    with pytest.raises(InputError):
        certify_program(elf, load_board("uno"), Settings("uno"))


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(200 << 20)
    refusal(run("verify", tmp_path / "large", "-o", tmp_path / "c.json"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    build(plain_model(), "uno", folder)
    Project(folder).compile(load_board("uno"))
    return folder


def copied(folder: Path, place: Path) -> tuple[Path, Path]:
    """Return a copy of a project, and its linked firmware."""
    shutil.copytree(folder, place / "copy", symlinks=True)
    return place / "copy", place / "copy" / ".pio" / "build" / "uno" / "firmware.elf"


def test_labels_of_a_linked_firmware_are_not_believed(project: Path, tmp_path: Path) -> None:
    copy, elf = copied(project, tmp_path)
    label = rb"(pnn_(?:passed|whole)\.\w+\.)(\d+)"
    smaller = re.sub(label, lambda m: m[1] + b"0" * len(m[2]), elf.read_bytes())
    assert smaller != elf.read_bytes()
    before = run_json("verify", project, "-o", tmp_path / "before.json", "--points", 8)
    elf.write_bytes(smaller)
    assert run_json("verify", copy, "-o", tmp_path / "c.json", "--points", 8) == before


@pytest.mark.parametrize("what", ["firmware", "image", "source"])
def test_firmware_of_other_sources_is_noticed(project: Path, tmp_path: Path, what: str) -> None:
    copy, elf = copied(project, tmp_path)
    if what == "firmware":
        code = bytearray(elf.read_bytes())
        code[0x300] ^= 1
        elf.write_bytes(code)
    elif what == "image":
        image = elf.with_suffix(".hex")
        first, *others = image.read_text().splitlines(keepends=True)
        image.write_text("".join([*others[:-1], first, others[-1]]))
    else:
        source = copy / "firmware" / "main.c"
        times = (source.stat().st_atime, source.stat().st_mtime)
        source.write_text(source.read_text() + "\nint more __attribute__((used)) = 5;\n")
        os.utime(source, times)
    done = run("verify", copy, "-o", tmp_path / "c.json", "--points", 8)
    refuses(done, "extensions.proof.certificate.project", exit_code=1)


_IN_2020 = 1_577_836_800


def test_firmware_that_is_older_than_its_sources_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(plain_model(), "uno", tmp_path)
    compile_, elf = Project.compile, Project(tmp_path).compile(load_board("uno"))

    def compiled(project: Project, board: Board) -> Path:
        """Take the file for up to date, as SCons does and the builds of tests do not."""
        return elf if project.folder == tmp_path else compile_(project, board)

    monkeypatch.setattr(Project, "compile", compiled)
    code = bytearray(elf.read_bytes())
    code[0x300] ^= 1
    elf.write_bytes(code)
    os.utime(elf, (_IN_2020, _IN_2020))
    refuses(
        run("verify", tmp_path, "--points", 8),
        "extensions.proof.certificate.project",
        exit_code=1,
    )


DEEPER = """
__asm__(".global hidden\\nhidden:\\n.rept 40\\npush r24\\n.endr\\n.rept 40\\npop r24\\n.endr\\n"
    "ret\\n.section .progmem.gcc_sw_table,\\"ax\\",@progbits\\n.L9: .word gs(hidden)\\n"
    ".section .init8,\\"ax\\",@progbits\\ncall early\\n.text");
__attribute__((used, externally_visible)) void early(void) { JUMP }
"""


def test_sources_besides_the_package_s_are_conditions(project: Path, tmp_path: Path) -> None:
    copy, _ = copied(project, tmp_path)
    (copy / "firmware" / "more.c").write_text(DEEPER.replace("JUMP", JUMP))
    claims = run_json("verify", copy, "-o", tmp_path / "c.json", "--points", 8)["claims"]
    by_name = {claim["name"]: claim["statement"] for claim in claims}
    assert by_name["cycles-most"].endswith(", if the labels in the source are correct")
    assert by_name["stack"].endswith(", if each jump table leads only into its own function")


def test_the_board_of_a_project_is_the_one_it_was_built_for(project: Path, tmp_path: Path) -> None:
    done = run("verify", project, "-o", tmp_path / "c.json", "--board", "mega2560")
    refuses(done, "codegen.projects.folder")


@pytest.mark.parametrize("content", [None, b"this is no C", b"\xff\xfe", b"#error no"])
def test_a_library_that_does_not_compile_is_refused(tmp_path: Path, content: bytes | None) -> None:
    library = tmp_path / "library"
    export(plain_model(), "arduino", library, tries=False)
    source, manifest = library / "src" / "pnn_model.c", library / ".protonn-edge-export"
    before = sha256(source.read_bytes()).hexdigest()
    if content is None:
        source.unlink()
    else:
        source.write_bytes(content)
        text = manifest.read_text().replace(before, sha256(content).hexdigest())
        manifest.write_text(text)
    done = run("verify", library, "-o", tmp_path / "c.json")
    assert done.exit_code in (1, 2)
    refusal(done, exit_code=done.exit_code)
    assert not (tmp_path / "c.json").exists()


EDITED: dict[str, tuple[Callable[[Any], object], int, str]] = {
    "a value": (lambda it: it["claims"][0].update(value=1), 1, "value 1)"),
    "a statement": (
        lambda it: it["claims"][-1].update(statement="the stack never takes 1 B"),
        1,
        'was "the stack never takes 1 B',
    ),
    "points": (lambda it: it["claims"][0].update(points=10**6), 1, "on 1,000,000 points"),
    "a claim twice": (
        lambda it: it["claims"].insert(
            0, {**it["claims"][0], "statement": "the program takes 1 B of flash"}
        ),
        1,
        "takes 1 B of flash",
    ),
    "the command": (lambda it: it.update(repeat="rm -rf ."), 2, "edited"),
    "endless points": (
        lambda it: (
            it["settings"].update(points=10**9),
            it.update(repeat=f"{it['repeat']} --points {10**9}"),
        ),
        2,
        "not a certificate",
    ),
    "the tool": (lambda it: it["tool"].update(name="another"), 2, "written by 'another"),
}


@pytest.mark.parametrize(("change", "exit_code", "words"), EDITED.values(), ids=EDITED)
def test_a_certificate_is_confirmed_until_it_is_edited(
    tmp_path: Path, change: Callable[[Any], object], exit_code: int, words: str
) -> None:
    text = PROGRAM.replace("BODY", "").replace("BEFORE", "")
    elf = compile_text(text, tmp_path / "program.elf", "-O1")
    path = tmp_path / "c.json"
    succeed("verify", elf, "-o", path)
    assert "confirmed" in succeed("verify", elf, "--check", path).stdout
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    assert words in refusal(run("verify", elf, "--check", path), exit_code)


def test_the_command_of_a_certificate_quotes_names(tmp_path: Path) -> None:
    certificate = Certificate({"compilers": ""}, Settings("uno", "$(rm x); y"), {}, ())
    path = tmp_path / "c.json"
    path.write_text(certificate.text())
    assert certificate.settings.command.endswith("--entry '$(rm x); y'")
    assert read_certificate(path) == certificate


def test_files_beside_a_program_do_not_change_its_certificate(tmp_path: Path) -> None:
    before = certified(tmp_path, "")
    (tmp_path / "other.su").write_text("other.c:1:1:pnn_predict\t500\tstatic\n")
    (tmp_path / "worse.su").write_bytes(b"\xff\n")
    assert certified(tmp_path, "") == before
