"""The server answers the page alone, and nothing that is sent is a path or a command."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import started

from protonn_edge.extensions.studio.folder import version_of
from protonn_edge.extensions.studio.tabs import Tabs, as_json

EVIL = "http://evil.example"


@pytest.mark.parametrize(
    "head",
    [
        {"Authorization": None},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer " + "x" * 32},
        {"Authorization": "Bearer \xff"},
        {"Host": None},
        {"Host": "evil.example"},  # a name that leads to 127.0.0.1, by DNS rebinding
        {"Host": "evil.example:8765"},
        {"Host": "127.0.0.1"},
        {"Origin": EVIL},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
@pytest.mark.parametrize("path", ["/ask/state", "/do/run"])
def test_others_than_the_page_are_refused(site: Any, path: str, head: dict[str, str]) -> None:
    status, answer = site.ask(path, {}, **{name.replace("-", "_"): v for name, v in head.items()})
    assert status == 403
    assert list(answer) == ["error"]


def test_a_page_of_another_site_reads_nothing_not_even_a_file_of_the_page(site: Any) -> None:
    for head in ({"Host": "evil.example"}, {"Sec_Fetch_Site": "cross-site"}, {"Origin": EVIL}):
        assert site.ask("/", method="GET", **head)[0] == 403
    two = f"GET / HTTP/1.1\r\nHost: {site.host}\r\nHost: evil.example\r\n\r\n"
    assert site.send(two.encode())[0] == 403


def test_a_browser_that_a_file_leads_to_the_page_gets_it(site: Any) -> None:
    head = f"Host: {site.host}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: document\r\n\r\n"
    assert site.send(f"GET / HTTP/1.1\r\n{head}".encode())[0] == 200
    assert site.send(f"GET /page.js HTTP/1.1\r\n{head}".encode())[0] == 403
    asked = site.ask("/ask/state", {}, Sec_Fetch_Site="cross-site", Sec_Fetch_Dest="document")
    assert asked[0] == 403


def test_a_browser_is_started_with_a_file_that_only_its_user_reads(tmp_path: Path) -> None:
    noted, browser = tmp_path / "noted", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" >{noted}.new; mv {noted}.new {noted}; sleep 60\n')
    browser.chmod(0o755)
    command = (sys.executable, "-m", "protonn_edge", "studio", tmp_path / "work", "--port", "0")
    environment = os.environ | {"BROWSER": f"{browser} %s &"}
    with started(*command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        address = process.stdout.readline().split()[-1]
        token = address.partition("#")[2]
        while not noted.exists():
            time.sleep(0.05)
        page = Path(noted.read_text().strip().removeprefix("file://"))
        assert token not in noted.read_text()
        assert page.stat().st_mode & 0o077 == page.parent.stat().st_mode & 0o077 == 0
        assert f'content="0; url={address}"' in page.read_text()
        process.send_signal(signal.SIGINT)
        process.wait()
    assert not list((tmp_path / "work").iterdir())


def test_every_answer_allows_only_its_own_scripts(site: Any) -> None:
    status, head, body = site.send(f"GET / HTTP/1.1\r\nHost: {site.host}\r\n\r\n".encode())
    assert status == 200
    assert b'<script type="module" src="/page.js">' in body
    assert site.server.token.encode() not in body
    policy = head["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert (head["X-Content-Type-Options"], head["Cache-Control"]) == ("nosniff", "no-store")
    assert "Access-Control-Allow-Origin" not in head
    assert "Set-Cookie" not in head


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.csv", "/%2e%2e/secret.csv", "/table.csv", "//table.csv", "/do/", "/do/close",
        "/ask/tell", "/do/state", "/ask/run", "/shown/", "/shown/x", "/page.js/", "/do/run/../run",
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_there_is_nothing_else(site: Any, path: str, method: str) -> None:
    status, answer = site.ask(path, {}, method)
    assert status in (403, 404)
    assert "label" not in str(answer)


NAMES = [
    "../secret.csv", "..", ".", "", "/etc/passwd", "folder/../table.csv", "table.csv\0", "-o",
    "--help", "./table.csv", "no.csv", "x" * 10_000, None, 1, ["table.csv"], {"a": 1},
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name)[:20])
def test_a_name_that_was_not_listed_is_refused(site: Any, name: object) -> None:
    assert site.ask("/ask/takes", {"recording": name})[0] == 400
    assert site.run("undo", recording=name)[0] == 400
    assert site.ask("/do/show", {"name": name})[0] == 400
    if name != "no.csv":  # a model may have this name
        assert site.run("train", points="table.csv", classifier="linear", model=name)[0] == 400


@pytest.mark.parametrize(
    "body",
    [[], 1, "x", {"steps": 1}, {"steps": []}, {"steps": [1]}, {"steps": [["run", {}]]},
     {"steps": [["undo", 1]]}, {"steps": [["undo", {"recording": "table.csv"}]] * 9}],
    ids=str,
)  # fmt: skip
def test_other_orders_are_refused_in_a_sentence(site: Any, body: object) -> None:
    status, answer = site.ask("/do/run", body)
    assert status == 400
    assert answer["error"]


@pytest.mark.parametrize(
    ("length", "more", "status"),
    [
        ("9999999999", "", 413),
        ("99999999999999999999", "", 413),
        ("-1", "", 411),
        ("x", "", 411),
        ("5", "Transfer-Encoding: chunked\r\n", 411),
    ],
)
@pytest.mark.parametrize("path", ["POST /do/run", "PUT /drop"])
def test_a_body_is_bounded_and_not_read_beyond(
    site: Any, path: str, length: str, more: str, status: int
) -> None:
    head = f"Host: {site.host}\r\nAuthorization: {site.token['Authorization']}\r\n"
    request = f"{path} HTTP/1.1\r\n{head}Content-Length: {length}\r\n{more}\r\n".encode()
    begun = time.monotonic()
    assert site.send(request)[0] == status
    assert time.monotonic() - begun < 10


def test_what_is_no_request_of_the_page_gets_a_sentence_too(site: Any) -> None:
    own = f"Host: {site.host}\r\n".encode()
    for request in (
        b"OPTIONS /do/run HTTP/1.1\r\n",
        b"TRACE / HTTP/1.1\r\n",
        b"GET /" + b"a" * 70_000,
    ):
        status, head, body = site.send(request + own + b"\r\n")
        assert status in (414, 501)
        assert "error" in json.loads(body)
        assert "default-src 'none'" in head["Content-Security-Policy"]
    # The body of a request for a file is no second request.
    hidden = b"GET /page.js HTTP/1.1\r\n" + own + b"\r\n"
    length = f"Content-Length: {len(hidden)}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", site.server.server_port), timeout=20) as line:
        line.sendall(b"GET /parts.js HTTP/1.1\r\n" + own + length + hidden)
        answer = b"".join(iter(lambda: line.recv(1 << 20), b""))
    assert answer.count(b"HTTP/1.1 200") == 1


def test_a_body_that_was_refused_is_read_so_that_the_sentence_arrives(site: Any) -> None:
    size = (1 << 26) + (1 << 20)
    head = f"Host: {site.host}\r\nAuthorization: {site.token['Authorization']}\r\n"
    request = f"POST /do/run HTTP/1.1\r\n{head}Content-Length: {size}\r\n\r\n".encode()
    status, _, body = site.send(request + bytes(size))
    assert status == 413
    assert json.loads(body)["error"] == "the limit is 65,536 bytes; use a smaller file"


def test_an_answer_with_nan_is_json_that_browsers_read(site: Any) -> None:
    for sent in (b'{"votes": NaN, "what": "classify"}', b'{"recording": Infinity}'):
        assert site.ask("/do/order", json.loads(sent))[0] == 400
    assert as_json({"a": [float("nan"), 1.5], "b": Path("c")}) == b'{"a": [null, 1.5], "b": "c"}'


def test_a_tab_that_is_too_slow_is_left_and_all_others_hear_everything() -> None:
    tabs = Tabs()
    slow, quick = tabs.messages(), tabs.messages()
    assert next(slow) == next(quick) == b"\n"
    heard = list[bytes]()
    for number in range(500):
        tabs.tell(number=number)
        heard.append(next(quick))
    assert heard == [as_json({"number": number}) + b"\n" for number in range(500)]
    assert [*slow] == []


def test_files_that_are_no_files_of_data_do_not_stop_the_page(site: Any) -> None:
    os.mkfifo("pipe.csv")
    os.mkfifo("pipe.npz")
    Path("circle.csv").symlink_to("circle.csv")
    with zipfile.ZipFile("damaged.npz", "w") as archive:
        archive.writestr("X.npy", b"")
    content = bytearray(Path("damaged.npz").read_bytes())
    directory = content.rfind(b"PK\1\2")
    content[directory + 9], content[directory + 46] = (
        8,
        0xFF,
    )  # a name that is not the UTF-8 it states
    Path("damaged.npz").write_bytes(content)
    status, state = site.ask("/ask/state", {})
    assert status == 200
    names = [each["name"] for each in state["files"]]
    assert names == ["damaged.npz", "recording.csv", "table.csv"]
    assert ([each["name"] for each in state["models"]], state["model"]) == (["damaged.npz"], None)
    assert site.ask("/ask/takes", {"recording": "pipe.csv"})[0] == 400


@pytest.mark.parametrize(
    "odd",
    [
        {"sample_rate": np.empty(0)},
        {"y": np.array(1)},
        {"y_test": np.array(1)},
        {"groups": np.array([b"\xff"])},
    ],
    ids=lambda odd: next(iter(odd)),
)
def test_arrays_of_odd_shapes_and_bytes_do_not_stop_the_page(
    site: Any, odd: dict[str, Any]
) -> None:
    np.savez("odd.npz", **({"X": np.zeros((1, 2))} | odd))
    status, state = site.ask("/ask/state", {})
    assert status == 200
    assert "odd.npz" in [each["name"] for each in state["files"]]


def test_a_folder_of_takes_has_another_version_whichever_file_changes(tmp_path: Path) -> None:
    folder = tmp_path / "takes"
    for number in range(30):
        (folder / f"rest.{number:02}").mkdir(parents=True)
        (folder / f"rest.{number:02}" / "a.csv").write_text("1")
    versions = {version_of(folder)}
    for number in (0, 15, 29):
        (folder / f"rest.{number:02}" / "a.csv").write_text("22")
        versions.add(version_of(folder))
    assert len(versions) == 4


def test_tabs_that_connect_at_once_share_one_board(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = list[Any]()

    class Stream:
        state: Mapping[str, Any] = {}

        def __init__(self, *_: Any) -> None:
            time.sleep(0.01)
            opened.append(self)
            self.runs = True

        def stop(self) -> None:
            self.runs = False

    monkeypatch.setattr("protonn_edge.extensions.studio.attached.BoardStream", Stream)
    tabs = [
        threading.Thread(target=site.ask, args=("/do/connect", {"kind": "live"}), daemon=True)
        for _ in range(6)
    ]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert len(opened) == 6
    assert [each.runs for each in opened].count(True) == 1


def test_it_listens_to_this_computer_only(site: Any) -> None:
    assert site.server.server_address[0] == "127.0.0.1"
    own = socket.gethostbyname(socket.gethostname())
    if not own.startswith("127."):
        with pytest.raises(OSError):  # noqa: PT011 - of whatever kind
            socket.create_connection((own, site.server.server_port), timeout=1)


def test_a_report_is_shown_once_and_its_script_has_no_rights(site: Any, tmp_path: Path) -> None:
    (tmp_path / "folder" / "report.html").write_text("<p>a report")
    address = site.ask("/do/show", {"name": "report.html"})[1]["address"]
    get = f"GET {address} HTTP/1.1\r\nHost: {site.host}\r\n\r\n".encode()
    status, head, body = site.send(get)
    assert (status, body) == (200, b"<p>a report")
    assert head["Content-Security-Policy"].startswith("sandbox allow-scripts;")
    assert site.send(get)[0] == 404


def test_a_take_that_has_changed_since_is_not_edited(site: Any) -> None:
    version = site.ask("/ask/takes", {"recording": "recording.csv"})[1]["version"]
    body = {"steps": [["delete", {"recording": "recording.csv", "take": 1}]]}
    body |= {"recording": "recording.csv", "version": version}
    first, second = (site.ask("/do/run", body)[0] for _ in range(2))
    assert (first, second) == (200, 409)  # the first one still runs
    wait(site)
    status, answer = site.ask("/do/run", body)
    assert status == 409
    assert "has changed since" in answer["error"]
    assert len(site.ask("/ask/takes", {"recording": "recording.csv"})[1]["takes"]) == 2


def wait(site: Any) -> dict[str, Any]:
    """Wait until no command runs; return the latest report."""
    deadline = time.monotonic() + 60
    while not site.server.workspace.jobs.latest.get("last") and time.monotonic() < deadline:
        time.sleep(0.05)
    latest: dict[str, Any] = site.server.workspace.jobs.latest
    return latest


def test_the_curves_of_a_long_take_are_short_and_keep_the_extremes(site: Any) -> None:
    shown = site.ask("/ask/takes", {"recording": "recording.csv"})[1]
    assert [(take["label"], take["n"]) for take in shown["takes"]] == [
        ("rest", 60), ("wave", 60), ("rest", 60)
    ]  # fmt: skip
    assert shown["scales"] == [[-59, 8192]] * 3  # one unit
    head = Path("recording.csv").read_text().splitlines()[:2]
    rows = [f"rest,a,{at / 100:.6f},{at % 977},0,{8000 * (at == 12345)}" for at in range(50_000)]
    Path("recording.csv").write_text("\n".join([*head, *rows, ""]))
    (take,) = site.ask("/ask/takes", {"recording": "recording.csv"})[1]["takes"]
    assert [len(curve) for curve in take["curves"]] == [600] * 3
    assert max(take["curves"][2]) == 8000


def test_a_part_of_a_take_is_the_extremes_of_each_column(site: Any) -> None:
    version = site.ask("/ask/takes", {"recording": "recording.csv"})[1]["version"]
    asked = {
        "recording": "recording.csv",
        "version": version,
        "take": 2,
        "part": "10:50",
        "columns": 4,
    }
    curves = site.ask("/ask/part", asked)[1]["curves"]
    assert curves[0] == [10, 19, 20, 29, 30, 39, 40, 49]
    assert site.ask("/ask/part", {**asked, "columns": 100})[1]["curves"][1] == [
        *range(-10, -50, -1)
    ]
    assert site.ask("/ask/part", {**asked, "version": "x"})[0] == 409
    for wrong in ({"take": 4}, {"take": None}, {"part": "a"}, {"columns": 0}):
        assert site.ask("/ask/part", {**asked, **wrong})[0] == 400


def test_hostile_names_of_classes_pass_through_unchanged(site: Any) -> None:
    evil = "<img src=x onerror=alert(1)>,\"--help' $(rm -rf .)"
    fields = {"recording": "recording.csv", "take": 2, "label": evil}
    status, answer = site.run("rename", **fields)
    assert status == 200, answer
    assert wait(site)["state"] == "done"
    takes = site.ask("/ask/takes", {"recording": "recording.csv"})[1]["takes"]
    assert takes[1]["label"] == evil
