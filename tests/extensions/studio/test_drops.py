"""Drops without a browser: what a sheet says, what is kept, and attacks on names and archives."""

from __future__ import annotations

import gzip
import io
import json
import socket
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extensions.studio.own_data import KINDS, picture, sound, write_kind

from protonn_edge.extensions.studio.called import Naming

TABLE = b"a,b,kind\n" + b"".join(b"%d.5,%d,%c\n" % (n, n % 7, b"xy"[n % 2]) for n in range(40))


def send(site: Any, files: Mapping[str, bytes], manifest: Any = None) -> tuple[int, Any]:
    """Drop files; return the status and the answer."""
    given = [[name, len(content)] for name, content in files.items()]
    line = json.dumps(given if manifest is None else manifest).encode() + b"\n"
    body = line + b"".join(files.values())
    head = f"Host: {site.host}\r\nAuthorization: {site.token['Authorization']}\r\n"
    request = f"PUT /drop HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode()
    status, _, answer = site.send(request + body)
    return status, json.loads(answer)


def look(site: Any, files: Mapping[str, bytes], **picked: str) -> Any:
    """Drop files, and return their sheet with its ticket."""
    status, answer = send(site, files)
    assert status == 200, answer
    asked = {**answer, "picked": picked}
    status, sheet = site.ask("/ask/look", asked)
    assert status == 200, sheet
    return {**sheet, **asked}


def keep(site: Any, sheet: Mapping[str, Any], **more: Any) -> tuple[int, Any]:
    asked = {"ticket": sheet["ticket"], "picked": sheet["picked"], **more}
    found: tuple[int, Any] = site.ask("/do/keep", asked)
    return found


def everything(folder: Path) -> dict[str, bytes | None]:
    """Return all that is in a folder and beside it."""
    every = folder.parent.rglob("*")
    return {str(each): each.read_bytes() if each.is_file() else None for each in every}


def in_zip(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def files_of(folder: Path) -> dict[str, bytes]:
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder.parent).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give the folder that `site` serves."""
    return tmp_path / "folder"


@pytest.mark.parametrize("kind", KINDS)
def test_a_sheet_says_what_a_drop_is_and_keeps_it(
    kind: str, site: Any, folder: Path, tmp_path: Path
) -> None:
    title, primary, name = KINDS[kind]
    sheet = look(site, files_of(write_kind(tmp_path / "own", kind)))
    assert (sheet["title"], sheet["primary"]) == (title, primary)
    assert len(sheet["questions"]) <= 2
    assert keep(site, sheet)[1]["name"] == name
    files = {each["name"]: each for each in site.state(data=name)["files"]}
    assert "error" not in files[name]
    assert not [*folder.glob(".protonn-edge*")]
    assert site.ask("/do/unkeep", {})[0] == 200
    assert not (folder / name).exists()


def test_takes_of_people_are_kept_so_that_their_persons_are_known(
    site: Any, folder: Path, tmp_path: Path
) -> None:
    own = write_kind(tmp_path / "own", "phone")
    for more in ({}, {"data": "takes"}):
        assert keep(site, look(site, files_of(own)), **more)[1]["name"] == "takes"
    assert len([*folder.glob("takes/wave/anna-*.csv")]) == 2  # the second drop was added
    facts = next(each for each in site.state()["files"] if each["name"] == "takes")
    assert facts["names"] == "{class}/{person}-{take}"
    assert facts["sessions"] == {"anna": 6, "bob": 6, "cleo": 6}
    # Other units are kept beside them, and the sheet says so.
    other = {name: text.replace(b"m/s^2", b"g") for name, text in files_of(own).items()}
    ticket = send(site, other)[1]
    sheet = site.ask("/ask/look", {**ticket, "data": "takes"})[1]
    assert "in m/s^2, these have" in sheet["notes"][-1]
    assert keep(site, {**ticket, "picked": {}}, data="takes")[1]["name"] == "takes-2"


def test_sets_of_labels_are_found_and_can_be_left(site: Any, tmp_path: Path) -> None:
    for kind, columns in (("sets", ["tags"]), ("flags", ["is_action", "is_drama", "is_crime"])):
        files = files_of(write_kind(tmp_path / kind, kind))
        sheet = look(site, files)
        (asked,) = sheet["questions"]
        assert sheet["chosen"] == {"labels": columns}
        assert asked["then"]["options"][0] == ["labels", "any of 3 labels"]
        again = look(site, files, column=asked["value"], target="labels")
        assert again["chosen"] == sheet["chosen"]
        other = look(site, files, column="stars", target="")
        assert (other["chosen"]["column"], other["chosen"]["target"]) == ("stars", "value")
        name = keep(site, sheet)[1]["name"]
        read = {"data": name, "read": {"labels": columns}}
        data = site.state(**read)["stages"]["data"]
        assert (data["facts"]["target"], data["facts"]["classes"]) == ("labels", 3)
        assert data["next"]["run"] == "train"
    for text in (
        b"a,b,c\n" + b"1.5,0,1\n2.5,1,0\n" * 20,  # exactly one: a class
        b"a,flag\n" + b"1.5,0\n2.5,1\n" * 20,  # one column
        b"a,x,y\n" + b"1.5,0,1\n2.5,1,1\n" * 20,  # two that are not called alike
        b"a,is_x,is_y,label\n" + b"1.5,0,1,u\n2.5,1,1,v\n" * 20,  # beside an answer
    ):
        assert "labels" not in look(site, {"a.csv": text})["chosen"]


def test_answers_change_the_class_the_person_and_the_kind(site: Any, tmp_path: Path) -> None:
    files = files_of(write_kind(tmp_path / "own", "phone"))
    assert look(site, files)["title"] == "9 recordings: 3 classes, 3 people"
    turned = look(site, files, **{"class": "1", "person": ""})
    assert [one["name"] for one in turned["classes"]] == ["anna", "bob", "cleo"]
    assert turned["title"] == "9 recordings: 3 classes"
    tables = look(site, files, **{"as": "tables"})
    assert tables["title"].startswith("9 tables with the same columns")
    assert tables["others"] == [["takes", "Use them as recordings"]]


@pytest.mark.parametrize(
    ("names", "classes", "others"),
    [
        ("3_bob_0 7_bob_0 3_lea_0 7_lea_0", "bob lea", ["3 7"]),
        ("p01_wave_1 p01_rest_1 p02_wave_1 p02_rest_1", "rest wave", ["p01 p02"]),
        ("obj1__0 obj1__5 obj2__0 obj2__5", "obj1 obj2", []),
        ("0/5 0/6 1/5 1/6", "0 1", []),
        ("wave/9a7c11_0 wave/9a7c22_0 rest/9a7c11_0 rest/9a7c22_0", "rest wave", ["9a7c11 9a7c22"]),
        ("wave_1 wave_2 rest_1 rest_2", "rest wave", []),
        ("2026-05-01/wave 2026-05-01/rest 2026-05-02/wave 2026-05-02/rest", "rest wave", []),
    ],
)
def test_numbers_in_names_are_classes_or_persons_but_no_takes_or_dates(
    names: str, classes: str, others: list[str]
) -> None:
    first, *more = Naming.of([f"{name}.wav" for name in names.split()]).parts
    assert sorted(first.names) == classes.split()
    assert [sorted(each.names) for each in more] == [each.split() for each in others]


@pytest.mark.parametrize("kind", ["sounds", "pictures"])
def test_folders_for_training_and_testing_are_kept_as_such(
    kind: str, site: Any, tmp_path: Path
) -> None:
    own = files_of(write_kind(tmp_path / "own", kind))
    apart = {f"{('test', 'train')[at % 4 > 0]}/{name}": own[name] for at, name in enumerate(own)}
    sheet = look(site, apart)
    assert "test (6), train (18)" in sheet["notes"][0]
    assert keep(site, sheet)[1]["name"] == kind
    state = site.state(data=kind)
    facts = next(each for each in state["files"] if each["name"] == kind)
    assert [*facts["classes"].values()] == [8, 8, 8]
    assert state["stages"]["data"]["next"]["run"] == "train"


def encrypted(packed: bytes) -> bytes:
    """Return a ZIP of one file, which states that it has a password."""
    places = (packed.index(b"PK\3\4") + 6, packed.index(b"PK\1\2") + 8)
    return bytes(byte | (at in places) for at, byte in enumerate(packed))


WAVE = sound(300.0, 16_000, 0)
PNG = picture("circle", 0)
ODD: dict[str, tuple[dict[str, bytes], str]] = {
    "an empty file": ({"leer.csv": b""}, "leer.csv is empty"),
    "an empty picture": ({"leer.png": b""}, "leer.png is empty"),
    "nothing": ({}, "This folder is empty"),
    "hidden files": ({".DS_Store": b"x", "__MACOSX/a": b"x"}, "Only hidden files are in it"),
    "a spreadsheet": ({"noten.xlsx": in_zip({"a": b"x"})}, "noten.xlsx is a spreadsheet"),
    "an old one": ({"noten.xls": b"\xd0\xcf\x11\xe0" + bytes(9)}, "noten.xls is a spreadsheet"),
    "a song": ({"lied.mp3": b"ID3" + bytes(99)}, "lied.mp3 is compressed sound"),
    "a film": ({"film.mp4": bytes(99)}, "film.mp4 is a film"),
    "a photo of a phone": ({"a.heic": bytes(99)}, "a.heic is a kind of picture that cannot be"),
    "a document": ({"a.pdf": b"%PDF-1.7\n\x00"}, "a.pdf is a document"),
    "prose": ({"notizen.txt": b"dear diary\n\ntoday\n"}, "notizen.txt has text, but no rows"),
    "one line": ({"a.csv": b"a,b,c\n"}, "a.csv has text, but no rows and columns"),
    "bytes": ({"a.bin": bytes(range(256))}, "a.bin is neither text nor a picture nor a sound"),
    "a program": ({"a.csv": b"\x7fELF\x00\x00"}, "a.csv is neither text nor a picture"),
    "half a picture": ({"a.png": PNG[: len(PNG) // 2]}, "a.png cannot be read as a picture"),
    "half a sound": ({"a.wav": WAVE[:9000]}, "a.wav ends too early: 4,478 of 16,000 samples"),
    "a sound without samples": ({"a.wav": WAVE[:40] + bytes(4)}, "a.wav has no sound in it"),
    "half a ZIP": ({"a.zip": in_zip({"a.csv": TABLE})[:-30]}, "a.zip cannot be opened"),
    "a ZIP of nothing": ({"a.zip": in_zip({})}, "This folder is empty"),
    "a ZIP in a ZIP": ({"a.zip": in_zip({"b.zip": in_zip({"a.csv": TABLE})})}, "b.zip is a ZIP"),
    "a ZIP with ways out": ({"a.zip": in_zip({"../x.csv": TABLE})}, "../x.csv leads out"),
    "a ZIP with a root": ({"a.zip": in_zip({"/x.csv": TABLE})}, "/x.csv leads out of its"),
    "a ZIP of Windows": ({"a.zip": in_zip({"..\\x.csv": TABLE})}, "..\\x.csv leads out"),
    "a drive": ({"a.zip": in_zip({"C:/x.csv": TABLE})}, "C:/x.csv leads out of its archive"),
    "an unequal table": ({"a.csv": b"a,b\n1\n2,3,4\n"}, "a.csv has 1 column, but line 1 has 2"),
    "a broken model": ({"m.npz": in_zip({"a": b"x"})}, "m.npz cannot be used"),
    "a sensor that is none": ({"s.toml": b"[sensor\n"}, "s.toml"),
    "text in UTF-16": ({"a.csv": TABLE.decode().encode("utf-16")}, "a.csv is text in UTF-16"),
    "text without a mark in UTF-16": (
        {"a.csv": TABLE.decode().encode("utf-16-le")}, "a.csv is neither text nor",
    ),
    "text in Latin-1": ({"a.csv": "a,b\n\xfc,1\n".encode("latin-1")}, "a.csv is not UTF-8 text"),
    "another archive": ({"a.tar.gz": gzip.compress(TABLE)}, "a.tar.gz is an archive of a kind"),
    "JSON": ({"a.json": b'{"a": [1, 2],\n "b": 3}\n'}, "a.json is data of another program"),
    "a picture that would fill the memory": (
        {"a.png": PNG[:16] + b"\x00\x01\x00\x00" * 2 + PNG[24:]}, "a.png cannot be read as a",
    ),
    "a song called a WAV": (
        {"a.wav": WAVE[:20] + b"\x55\x00" + WAVE[22:]}, "a.wav cannot be read: a WAV file of",
    ),
    "one row": ({"a.csv": b"a,kind\n1,x\n"}, "a.csv has only one row"),
    "one column": ({"a.csv": b"a\n" + b"1\n" * 30}, "a.csv has text, but no rows and columns"),
    "more columns than one looks at": (
        {"a.csv": b"\n".join([b",".join(b"%d" % n for n in range(70_000))] * 3)},
        "a.csv has 70,000 columns",
    ),
    "a cell without an end": ({"a.csv": TABLE + b'"x,1,2\n' * 3}, "a.csv has 1 column, but line 1"),
    "a ZIP with a password": ({"a.zip": encrypted(in_zip({"a.csv": TABLE}))}, "a.csv is encrypted"),
    "a ZIP of a name that is none": ({"a.zip": in_zip({".": b"x"})}, ". has no name"),
    "several": ({"a.csv": b"", "b.mp3": b"x"}, "None of these 2 files can be used"),
}  # fmt: skip


@pytest.mark.parametrize("case", ODD)
def test_what_cannot_be_used_is_said_and_leaves_the_folder_as_it_was(
    case: str, site: Any, folder: Path
) -> None:
    files, title = ODD[case]
    before = everything(folder)
    sheet = look(site, files)
    assert sheet["title"].startswith(title)
    assert sheet["primary"] == ""
    assert keep(site, sheet)[0] == 400
    assert site.ask("/do/leave", {"ticket": sheet["ticket"]})[0] == 200
    assert everything(folder) == before


MIXED: dict[str, tuple[dict[str, bytes], str, dict[str, str]]] = {
    "one bad picture": (
        {**{f"circle/{n}.png": picture("circle", n) for n in range(3)}, "circle/bad.png": PNG[:99],
         "square/1.png": picture("square", 1), "square/2.png": picture("square", 2)},
        "Add 5 pictures", {"circle/bad.png": "cannot be read as a picture"},
    ),
    "text beside pictures": (
        {"a/1.png": PNG, "b/1.png": PNG, "notizen.csv": TABLE},
        "Add 2 pictures", {"notizen.csv": "is text; the others are not"},
    ),
    "a picture called a table": ({"x.csv": PNG, "y.png": PNG}, "Add 2 pictures", {}),
    "a table in a ZIP": ({"a.zip": in_zip({"in/a.csv": TABLE})}, "Use this table", {}),
    "two tables": (
        {"a.csv": TABLE, "b.csv": b"x,y\n" + b"1,2\n" * 9}, "Use this table", {},
    ),
    "equal tables": ({"a.csv": TABLE, "b.csv": TABLE}, "Use these 2 tables", {}),
    "a row a second": (
        {"a.csv": b"time,v,kind\n" + b"".join(b"%d,%d,%s\n" % (n, n % 9, b"ab"[n // 20 :][:1])
                                             for n in range(40))}, "Use this table", {},
    ),
    "a row number": (
        {"a.csv": b"id,v,kind\n" + b"".join(b"%d,%d.5,%s\n" % (n, n * 7 % 9, b"ab"[n // 20 :][:1])
                                           for n in range(40))}, "Use this table", {},
    ),
    "no header": ({"a.csv": b"1.5,2,x\n2.5,3,y\n" * 9}, "Use this table", {}),
    "many columns": (
        {"a.csv": b",".join(b"c%d" % n for n in range(65)) + b"\n"
         + (b",".join(b"%d" % n for n in range(65)) + b"\n") * 9}, "Use this table", {},
    ),
    "a table beside a licence": (
        {"LICENSE": b"Permission is granted, free,\nto any person, x\n", "a.csv": TABLE},
        "Use this table", {"LICENSE": "has only one row"},
    ),
    "a table with a mark": ({"a.csv": b"\xef\xbb\xbf" + TABLE}, "Use this table", {}),
    "names of other scripts": (
        {f"{name}/{n}.png": PNG for name in ("\u043a\u0440\u0443\u0433", "\u6b63\u65b9\u5f62")
         for n in range(2)}, "Add 4 pictures", {},
    ),
    "equal names in folders": (
        {"a/1.png": PNG, "b/1.png": PNG, "a/b/1.png": PNG}, "Add 3 pictures", {},
    ),
    "one class only": ({f"circle/{n}.png": PNG for n in range(4)}, "Add 4 pictures", {}),
    "a sound called a table": ({"a.csv": WAVE, "b.wav": WAVE}, "Add 2 sounds", {}),
    "names that Windows has": (
        {"CON/1.png": PNG, "a./2.png": PNG, "b /3.png": PNG}, "Add 3 pictures", {},
    ),
    "names that lead out": ({"../../x.csv": TABLE}, "Use this table", {}),
    "an absolute name": ({"/etc/x.csv": TABLE}, "Use this table", {}),
    "a name for a shell": ({"$(rm -rf .);'\".csv": TABLE}, "Use this table", {}),
    "a name like an option": ({"-o.csv": TABLE}, "Use this table", {}),
    "a name like a page": ({"<img src=x onerror=alert(1)>.csv": TABLE}, "Use this table", {}),
    "a long name": ({"x" * 900 + ".csv": TABLE}, "Use this table", {}),
    "an odd character": ({"\ud83d\ude00\u202e.csv": TABLE}, "Use this table", {}),
    "half a character": ({"\ud83d.csv": TABLE}, "Use this table", {}),
    "a class like a way out": (
        {"x/../1.wav": WAVE, "x/..1/2.wav": WAVE, "x/-o/3.wav": WAVE, "x/.b/4.wav": WAVE},
        "Add 2 sounds", {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MIXED)
def test_the_good_files_are_kept_within_the_folder(case: str, site: Any, folder: Path) -> None:
    files, primary, left = MIXED[case]
    before = everything(folder)
    sheet = look(site, files)
    assert sheet["primary"] == primary
    assert {name: reason[: len(left[name])] for name, reason in sheet["left"]} == left
    status, kept = keep(site, {**sheet, "picked": {"label": "one"} if sheet["needs"] else {}})
    assert status == 200, kept
    after = everything(folder)
    new = {*after} - {*before}
    assert {name: after[name] for name in before} == before
    assert new
    assert all(Path(name).is_relative_to(folder / kept["name"]) for name in new)
    assert site.ask("/do/unkeep", {})[0] == 200
    assert everything(folder) == before


def test_what_is_undone_leaves_an_empty_folder(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with serve(tmp_path / "empty") as site:
        for files in ({"a.csv": TABLE}, {"x/1.png": PNG, "y/1.png": PNG}):
            assert keep(site, look(site, files))[0] == 200
            assert site.ask("/do/unkeep", {})[0] == 200
            assert everything(tmp_path / "empty") == {str(tmp_path / "empty"): None}


def test_names_that_are_taken_get_a_number(site: Any, folder: Path) -> None:
    before = (folder / "table.csv").read_bytes()
    assert keep(site, look(site, {"table.csv": TABLE}))[1]["name"] == "table-2.csv"
    assert (folder / "table.csv").read_bytes() == before
    (folder / "table-2.csv").write_bytes(b"edited")
    assert "changed since" in site.ask("/do/unkeep", {})[1]["error"]
    assert (folder / "table-2.csv").read_bytes() == b"edited"


def test_a_drop_that_is_no_drop_leaves_nothing(site: Any, folder: Path) -> None:
    before = everything(folder)
    wrong: list[Any] = [
        {}, 1, [["a"]], [[1, 2]], [["a.csv", -1]], [["a.csv", 1.5]], [["a.csv", True]],
        [["", 1]], [["a\0.csv", 1]], [["a" * 2000, 1]], [["a.csv", 10**12]], [["a.csv", 7]],
        [["a.csv", 1]] * 20_001,
    ]  # fmt: skip
    for manifest in wrong:
        assert send(site, {"a.csv": b"1"}, manifest)[0] == 400, manifest
    for ticket in ("", "x", None, 1, "../x", ["a"]):
        for path in ("/ask/look", "/do/keep"):
            assert site.ask(path, {"ticket": ticket})[0] == 400
        assert site.ask("/do/leave", {"ticket": ticket})[0] == 200
    sheet = look(site, {"a.csv": TABLE})
    for picked in (1, ["a"], {"column": 1}, {"column": "x" * 300}, {"class": "\n"}):
        assert site.ask("/ask/look", {"ticket": sheet["ticket"], "picked": picked})[0] == 400
    odd = {"class": "99", "file": "-1", "size": "1e9x1", "as": "x", "column": "x"}
    for picked in ({name: value} for name, value in odd.items()):
        status = site.ask("/ask/look", {"ticket": sheet["ticket"], "picked": picked})[0]
        assert status in (200, 400)
    assert site.ask("/do/leave", {"ticket": sheet["ticket"]})[0] == 200
    assert keep(site, sheet)[0] == 400
    assert everything(folder) == before


def test_only_the_page_drops_and_keeps(site: Any, folder: Path) -> None:
    before = everything(folder)
    for more in (
        {"Authorization": "Bearer x"}, {"Origin": "http://example.org"}, {"Host": "example.org"},
        {"Sec_Fetch_Site": "cross-site"},
    ):  # fmt: skip
        for method, path in (("PUT", "/drop"), ("POST", "/do/keep"), ("POST", "/do/unkeep")):
            assert site.ask(path, [], method, **more)[0] == 403
    assert everything(folder) == before


def test_a_zip_cannot_be_a_bomb_or_a_link(site: Any, folder: Path) -> None:
    before = everything(folder)
    bomb = io.BytesIO()
    packed = zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED)
    with packed as archive, archive.open("a.csv", "w", force_zip64=True) as file:
        for _ in range(513):
            file.write(bytes(1 << 20))
    assert look(site, {"a.zip": bomb.getvalue()})["title"] == "a.zip is too large"
    lying = bytearray(in_zip({"a.csv": b"1,2\n" * 10_000}))
    place = lying.index(b"PK\x01\x02") + 24
    lying[place : place + 4] = (16).to_bytes(4, "little")  # the size in its list of files
    assert look(site, {"a.zip": bytes(lying)})["primary"] == ""
    links = io.BytesIO()
    with zipfile.ZipFile(links, "w") as archive:
        link = zipfile.ZipInfo("a.csv")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    assert look(site, {"a.zip": links.getvalue()})["title"] == "a.csv is a link"
    site.server.workspace.drops.close()
    assert everything(folder) == before


def test_a_drop_that_stops_on_its_way_leaves_nothing(site: Any, folder: Path) -> None:
    before = everything(folder)
    head = f"Host: {site.host}\r\nAuthorization: {site.token['Authorization']}\r\n"
    line = json.dumps([["a.csv", 1000]]).encode() + b"\n"
    length = len(line) + 1000
    request = f"PUT /drop HTTP/1.1\r\n{head}Content-Length: {length}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", site.server.server_port), timeout=20) as one:
        one.sendall(request + line + b"1,2\n")
        one.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: one.recv(1 << 16), b""))
    assert b"the drop was stopped; nothing was added" in answer
    assert everything(folder) == before


def test_one_long_recording_is_kept_as_a_take_for_each_stretch(site: Any, folder: Path) -> None:
    t = np.arange(1200) / 100
    rows = [f'{x:.2f},{np.sin(x):.3f},"{9 * x:.0f}",{"ab"[int(x / 3) % 2]}' for x in t]
    content = "\n".join(["t,ax,ay,kind", *rows, ""]).encode()
    sheet = look(site, {"long.csv": content})
    assert sheet["title"] == "One recording of 12 s: 2 classes"
    assert keep(site, sheet)[1]["name"] == "long"
    parts = sorted(path.relative_to(folder).as_posix() for path in folder.glob("long/*/*"))
    assert parts == ["long/a/a-1.csv", "long/a/a-2.csv", "long/b/b-1.csv", "long/b/b-2.csv"]
    lines = (folder / parts[0]).read_text().splitlines()
    assert lines[:2] == ["t,ax,ay", "0.00,0.000,0"]
    assert len(lines) == 301
