"""The server: the protocol, hostile calls, and that nothing runs on after its call has ended."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from avr_tools import needs_avr_gcc, needs_emulated_avr
from command_line import assert_one_sentence, run, run_json, succeed
from extensions.agents.client import Client, all_end, served
from model_factory import random_model
from sklearn.datasets import load_digits

from protonn_edge.extensions.agents import verdicts
from protonn_edge.extensions.agents.child import ChildCommand
from protonn_edge.extensions.agents.confinement import OPTIONS, Confinement
from protonn_edge.extensions.agents.server import MOST_BYTES, VERSIONS, Allowed, Server
from protonn_edge.extensions.agents.tools import TOOLS
from protonn_edge.extensions.agents.verdicts import MOST_CHARACTERS, _text, verdict
from protonn_edge.model.file import save_model
from protonn_edge.system.shell import WINDOWS

pytestmark = pytest.mark.skipif(WINDOWS, reason="ends groups of processes: run it on Linux, macOS")

SECRET = "secret,label\n1,a\n2,b\n"
_CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call"}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, table: str) -> Iterator[Client]:
    """Return the client of a server whose folder has links that lead out of it."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.csv").write_text(SECRET)
    folder = outside / "allowed"
    for name in ("parts", "links", "labelled"):
        (folder / name).mkdir(parents=True)
    (folder / "train.csv").write_text(table)
    (folder / "links" / "link.csv").symlink_to(outside / "secret.csv")
    (folder / "labelled" / "a.csv").write_text("time,x\n0,1\n1,2\n2,3\n")
    (outside / "intervals.csv").write_text("start,end,label\n0,1,rest\n1,2,walk\n")
    (folder / "labelled" / "a_labels.csv").symlink_to(outside / "intervals.csv")
    (folder / "links" / "train.csv").write_text(table)
    (folder / "linked").symlink_to(outside)
    (folder / "parts" / "more.csv").symlink_to(outside / "secret.csv")
    (folder / "circle").symlink_to(folder / "circle")
    (folder / "report.html").symlink_to(outside / "page.html")
    with served(folder) as client:
        client.text("look", data="train.csv")
        yield client


def message(**entries: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 7} | entries).encode()


NOT_JSON, NOT_A_MESSAGE, NO_METHOD, WRONG_PARAMETERS = -32700, -32600, -32601, -32602
MESSAGES: dict[str, tuple[bytes, int]] = {
    "half an object": (b'{"jsonrpc": "2.0", "id": 7', NOT_JSON),
    "not UTF-8": (b"\xff\xfe\x00", NOT_JSON),
    "deep": (b"[" * 90_000, NOT_JSON),
    "deep objects": (b'{"a":' * 15_000, NOT_JSON),
    "NaN": (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', NOT_JSON),
    "infinite": (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "x": -Infinity}', NOT_JSON),
    "a number of 9,000 digits": (b'{"id": ' + b"9" * 9_000 + b"}", NOT_JSON),
    "too long": (message(method="ping", params={"x": "y" * 300_000}), NOT_A_MESSAGE),
    "a byte too long": (b" " * MOST_BYTES + b"{}", NOT_A_MESSAGE),
    "a batch": (b"[" + message(method="ping") + b"]", NOT_A_MESSAGE),
    "a text": (b'"ping"', NOT_A_MESSAGE),
    "another protocol": (b'{"id": 7, "method": "ping"}', NOT_A_MESSAGE),
    "an older protocol": (message(jsonrpc="1.0", method="ping"), NOT_A_MESSAGE),
    "no method": (message(), NOT_A_MESSAGE),
    "a method that is no text": (message(method=["ping"]), NOT_A_MESSAGE),
    "an id that is null": (message(id=None, method="ping"), NOT_A_MESSAGE),
    "an id that is a list": (message(id=[], method="ping"), NOT_A_MESSAGE),
    "an id that is true": (message(id=True, method="ping"), NOT_A_MESSAGE),
    "an infinite id": (b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}', NOT_A_MESSAGE),
    "an unknown method": (message(method="resources/read"), NO_METHOD),
    "a long method": (message(method="x" * 50_000), NO_METHOD),
    "parameters in a list": (message(method="ping", params=[1]), WRONG_PARAMETERS),
    "no tool": (message(method="tools/call"), WRONG_PARAMETERS),
    "an unknown tool": (message(method="tools/call", params={"name": "sh"}), WRONG_PARAMETERS),
    "a tool in a list": (message(method="tools/call", params={"name": ["look"]}), WRONG_PARAMETERS),
    "an upload": (message(method="tools/call", params={"name": "upload"}), WRONG_PARAMETERS),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_that_is_none_gets_an_error(name: str, hostile: Client) -> None:
    line, code = MESSAGES[name]
    hostile.send(line)
    answer = hostile.read()
    assert answer["error"]["code"] == code
    assert answer["id"] in (7, None)
    assert len(json.dumps(answer)) < MOST_CHARACTERS
    assert hostile.ask("ping") == {}


IGNORED: dict[str, bytes] = {
    "an empty line": b"",
    "spaces": b" \t ",
    "an answer": b'{"jsonrpc": "2.0", "id": 1, "result": {}}',
    "an unknown notification": b'{"jsonrpc": "2.0", "method": "notifications/roots"}',
    "cancelled: nothing runs": b'{"jsonrpc": "2.0", "method": "notifications/cancelled"}',
}


@pytest.mark.parametrize("name", IGNORED)
def test_what_asks_for_nothing_gets_no_answer(name: str, hostile: Client) -> None:
    hostile.send(IGNORED[name])
    assert hostile.ask("ping") == {}


_DATA = {"data": "train.csv"}
_WINDOWS = {"recording": "train.csv", "windows": "w.npz", "window": 8}
_MODEL = {"data": "train.csv", "model": "m.npz"}
CALLS: dict[str, tuple[str, Any, str]] = {
    "a list": ("look", ["train.csv"], "not an object"),
    "nothing": ("look", None, "not an object"),
    "an argument is missing": ("look", {}, "data is missing"),
    "an unknown argument": ("look", {"data": "train.csv", "html": "x.html"}, "no argument 'html'"),
    "a number": ("look", {"data": 7}, "not a text"),
    "an empty name": ("look", {"data": ""}, "not a text"),
    "a long name": ("look", {"data": "x" * 301}, "not a text"),
    "an option": ("look", {"data": "--html=/tmp/x.html"}, "begins with '-'"),
    "standard input": ("look", {"data": "-"}, "begins with '-'"),
    "an option as a model": ("train", {**_MODEL, "model": "--json"}, "begins with '-'"),
    "an option as a column": ("train", {**_MODEL, "drop": "-1"}, "begins with '-'"),
    "a null byte": ("look", {"data": "train.csv\0"}, "not printable"),
    "two lines": ("look", {"data": "train\n.csv"}, "not printable"),
    "half a character": ("look", {"data": "\ud800.csv"}, "not printable"),
    "above the folder": ("look", {"data": "../secret.csv"}, "leads out"),
    "above, by a detour": ("look", {"data": "parts/../../secret.csv"}, "leads out"),
    "an absolute path": ("look", {"data": "/etc/passwd"}, "leads out"),
    "in the home": ("look", {"data": "~/secret.csv"}, "leads out"),
    "a model in the home": ("train", {**_MODEL, "model": "~/m.npz"}, "leads out"),
    "a column in the home": ("train", {**_MODEL, "groups": "~/secret.csv"}, "leads out"),
    "a library in the home": ("export", {"model": "m.npz", "folder": "~/Wine"}, "leads out"),
    "a default name that is a link": ("report", {}, "leads out"),
    "a link": ("look", {"data": "links/link.csv"}, "leads out"),
    "beside a link to its labels": ("look", {"data": "labelled/a.csv"}, "labelled/a_labels.csv"),
    "a link among options": ("look", {**_DATA, "options": {"keep": "../x"}}, "leads out"),
    "an option that writes": ("look", {**_DATA, "options": {"html": "x.html"}}, "does not take"),
    "an option of uploads": ("build", {"model": "m", "options": {"upload": True}}, "does not take"),
    "an option in an option": ("look", {**_DATA, "options": {"keep": "--html=x"}}, "begins with"),
    "options in a text": ("look", {**_DATA, "options": "--html x"}, "not an object"),
    "an option that is an object": ("look", {**_DATA, "options": {"keep": {}}}, "not a text"),
    "a window in words": ("windows", {**_WINDOWS, "window": "ten"}, "give an integer"),
    "a window of one": ("windows", {**_WINDOWS, "window": 1}, "at least 2"),
    "a window that is true": ("windows", {**_WINDOWS, "window": True}, "give an integer"),
    "predictions outside": (
        "predict",
        {"model": "m", **_DATA, "predictions": "../p.csv"},
        "leads out",
    ),
    "a module outside": (
        "export",
        {"model": "m", "folder": "../m", "kind": "micropython"},
        "leads out",
    ),
    "the root": ("look", {"data": "/"}, "leads out"),
    "behind a link": ("look", {"data": "linked/secret.csv"}, "leads out"),
    "a folder with a link": ("look", {"data": "parts"}, "link 'parts/more.csv'"),
    "a link to itself": ("look", {"data": "circle/x.csv"}, "leads nowhere"),
    "a label that is a file": ("look", {"data": "train.csv", "label": "/etc/hosts"}, "leads out"),
    "groups in a file": ("train", {**_MODEL, "groups": "../secret.csv"}, "leads out"),
    "a model outside": ("train", {**_MODEL, "model": "/tmp/m.npz"}, "leads out"),
    "a project outside": ("build", {"model": "m.npz", "folder": ".."}, "leads out"),
    "results outside": ("measure", {"data": "train.csv", "results": "../r.csv"}, "leads out"),
    "a page outside": ("report", {"page": "linked/page.html"}, "leads out"),
    "another kind": ("train", {**_MODEL, "classifier": "best; rm -rf ."}, "choose one of"),
    "a board's file": ("build", {"model": "m.npz", "board": "../b.toml"}, "choose one of"),
    "a board that is not allowed": (
        "measure",
        {"data": "train.csv", "device": "port=/dev/ttyACM0"},
        "choose one of",
    ),
    "another export": ("export", {"model": "m.npz", "folder": "x", "kind": "data"}, "choose one"),
    "no such file": ("look", {"data": "none.csv"}, "does not exist"),
    "no such model": ("build", {"model": "none.npz"}, "does not exist"),
    "a table as a model": ("build", {"model": "train.csv"}, "model"),
    "the table as the model": ("train", {**_MODEL, "model": "train.csv"}, "train.csv"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_leads_out_is_refused(name: str, hostile: Client) -> None:
    tool, arguments, said = CALLS[name]
    result = hostile.ask("tools/call", name=tool, arguments=arguments)
    (content,) = result["content"]
    assert result["isError"]
    assert len(content["text"]) <= MOST_CHARACTERS
    answer = json.loads(content["text"])
    assert [*answer][:2] == ["ok", "error"]
    assert said in answer["error"]
    assert "secret" not in content["text"].replace("secret.csv", "")
    assert hostile.ask("ping") == {}
    assert hostile.heirs() == []
    folder = Path(hostile.process.args[-1])  # type: ignore[index]
    names = {path.name for path in folder.iterdir()}
    assert names == {"train.csv", "links", "linked", "parts", "circle", "report.html", "labelled"}
    outside = {path.name for path in folder.parent.iterdir()}
    assert outside == {"allowed", "secret.csv", "intervals.csv"}


def test_a_link_beside_a_file_that_is_not_read_for_it_does_not_matter(hostile: Client) -> None:
    for data in ("train.csv", "links/train.csv"):
        assert hostile.call("look", data=data)["points"] == 178


def test_a_refusal_names_the_link_and_what_to_do(hostile: Client) -> None:
    answer = hostile.call("look", data="parts")
    assert "by which the link 'parts/more.csv' is found" in answer["error"]
    assert "ask the user to remove the link" in answer["error"]
    near = hostile.call("look", data="train.csv", options={"mising": "median"})
    assert near["error"].endswith("it has missing")


@pytest.mark.parametrize("name", ["train.csv", "-train.csv"])
def test_an_absolute_path_in_the_folder_is_made_relative(name: str, tmp_path: Path) -> None:
    schema: dict[str, Any] = {"data": {"type": "string"}}
    given = {"data": str(tmp_path / name)}
    assert Confinement(tmp_path).checked(schema, ("data",), given) == {"data": f"./{name}"}


def test_numbers_of_options_are_written_in_full(tmp_path: Path) -> None:
    tool = TOOLS["train"]
    given = {**_MODEL, OPTIONS: {"seed": 12_345_678, "epochs": 3.0, "gamma": 0.5}}
    found = Confinement(tmp_path).checked(tool.schema, tool.required, given)
    assert found[OPTIONS] == {"seed": "12345678", "epochs": "3", "gamma": "0.5"}


@pytest.mark.parametrize("asked", [*VERSIONS, "1999-01-01", None, 7])
def test_the_version_of_the_protocol_is_the_clients_if_known(asked: Any, hostile: Client) -> None:
    found = hostile.ask("initialize", protocolVersion=asked, capabilities={}, clientInfo={})
    assert found["protocolVersion"] == (asked if asked in VERSIONS else VERSIONS[0])
    assert found["capabilities"] == {"tools": {}}
    assert found["serverInfo"]["name"] == "protonn-edge"


def test_the_tools_are_few_and_briefly_described(tmp_path: Path) -> None:
    with served(tmp_path, "--uploads", 1, "--port", "/dev/ttyACM0") as client:
        tools = client.ask("tools/list")["tools"]
    assert len(tools) == 10
    assert len(json.dumps(tools)) < 625 * len(tools)
    for each in tools:
        schema = each["inputSchema"]
        assert {*schema["required"]} <= schema["properties"].keys()
        assert not schema["additionalProperties"]
    (upload,) = [each for each in tools if "destructiveHint" in each.get("annotations", {})]
    assert upload["name"] == "upload"


@pytest.fixture
def digits(folder: Path) -> Path:
    """Return the folder with a table that takes long to train on."""
    X, y = load_digits(return_X_y=True)
    rows = (
        f"digit{label},{','.join(f'{pixel:g}' for pixel in row)}"
        for row, label in zip(X, y, strict=True)
    )
    (folder / "digits.csv").write_text(
        "\n".join([",".join(["label", *map(str, range(64))]), *rows])
    )
    return folder


LONG = {
    "data": "digits.csv",
    "model": "m.npz",
    "classifier": "protonn",
    "options": {"epochs": "100000"},  # minutes, on a fast computer, too
}


def test_two_at_once_and_a_cancelled_training(digits: Path) -> None:
    with served(digits) as client:
        long = client.begin("train", **LONG)
        running = client.heirs("python")
        refused = client.call("look", data="train.csv")
        assert "still running" in refused["error"]
        assert client.ask("ping") == {}
        client.cancel(long + 100)
        assert client.ask("ping") == {}
        assert client.heirs("python")
        client.cancel(long)
        assert all_end(running)
        assert client.ask("ping") == {}  # which comes next: a cancelled call has no answer
        assert client.call("look", data="train.csv")["points"] == 178
        assert client.heirs() == []
    assert {path.name for path in digits.iterdir()} == {"train.csv", "digits.csv"}


def test_a_command_has_a_time_limit(digits: Path) -> None:
    with served(digits, "--timeout", 1) as client:
        assert "stopped after 1 s" in client.call("train", **LONG)["error"]
        assert client.heirs() == []


ENDS = ("the client leaves", "SIGTERM", "SIGKILL")


@pytest.mark.parametrize("end", ENDS)
def test_the_command_ends_with_the_server(end: str, digits: Path) -> None:
    with served(digits) as client:
        client.begin("train", **LONG)
        running = client.heirs("python", "sh")
        if end == "the client leaves":
            client.process.stdin.close()  # type: ignore[union-attr]
        else:
            client.process.send_signal(getattr(signal, end))
        code = client.process.wait()
        assert all_end(running)
    assert code == {"the client leaves": 0, "SIGTERM": 143, "SIGKILL": -9}[end]


@needs_avr_gcc
def test_a_cancelled_build_leaves_no_compiler_and_no_file(folder: Path) -> None:
    save_model(random_model(5_900), folder / "m.npz")  # which no other test has compiled
    with served(folder) as client:
        before = {*folder.rglob("*")}
        number = client.begin("build", model="m.npz")
        running = client.heirs("avr-gcc")
        client.cancel(number)
        assert all_end([*running, *client.heirs()])
    assert {*folder.rglob("*")} - before <= {folder / "firmware"}


def journey(client: Any) -> dict[str, Any]:
    """Go from a table to a library, and to a measured board; return what each tool answered."""
    steps: dict[str, dict[str, str]] = {
        "look": {"data": "train.csv"},
        "train": {"data": "train.csv", "model": "m.npz", "classifier": "forest"},
        "build": {"model": "m.npz"},
        "verify": {"model": "m.npz", "data": "train.csv"},
        "measure": {"data": "train.csv"},
        "report": {"data": "train.csv"},
        "export": {"model": "m.npz", "folder": "Wine"},
    }
    return {name: client(name, **arguments) for name, arguments in steps.items()}


def check_journey(texts: dict[str, str], folder: Path) -> None:
    """Check the verdicts, and that the files are there."""
    assert max(map(len, texts.values())) <= MOST_CHARACTERS
    found = {name: json.loads(text) for name, text in texts.items()}
    assert all(each["ok"] for each in found.values())
    assert found["look"]["classes"] == {"class_0": 59, "class_1": 71, "class_2": 48}
    assert len(found["look"]["names"]) == 13
    low, high = found["train"]["interval"]
    assert low < found["train"]["accuracy"] <= high
    assert found["build"]["fits"]
    assert found["build"]["flash"]["used"] < found["build"]["flash"]["limit"] == 32_256
    for name in ("build", "verify", "measure", "export"):
        assert found[name]["equal"], name
    assert found["measure"]["accuracy"] == found["verify"]["accuracy"] == found["train"]["accuracy"]
    assert found["measure"]["mean_ms"] <= found["build"]["most_ms"]
    written = {path.name for path in folder.iterdir()}
    assert written >= {"m.npz", "firmware", "results.csv", "report.html", "Wine"}


@needs_emulated_avr
def test_the_protocols_own_client_agrees(folder: Path) -> None:
    pytest.importorskip("mcp", reason="needs the SDK of the protocol: pip install mcp")
    import asyncio

    from mcp import Client as SdkClient
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def talk() -> dict[str, str]:
        words = ["-m", "protonn_edge", "mcp", str(folder)]
        how = StdioServerParameters(command=sys.executable, args=words, env={**os.environ})
        async with SdkClient(stdio_client(how)) as client:
            assert len((await client.list_tools()).tools) == 9
            texts: dict[str, str] = {}

            async def call(name: str, **arguments: str) -> None:
                result = await client.call_tool(name, arguments)
                texts[name] = result.content[0].text

            for step in journey(call).values():
                await step
            refused = await client.call_tool("look", {"data": "../x.csv"})
            assert refused.is_error
            return texts

    check_journey(asyncio.run(talk()), folder)


class Talk(io.BytesIO):
    """Both streams of a server: each request follows the answer to the one before."""

    def __init__(self, *calls: dict[str, Any]) -> None:
        super().__init__()
        self._calls = iter(calls)
        self._answered = threading.Event()
        self._answered.set()
        self.texts: list[str] = []

    @property
    def answers(self) -> list[dict[str, Any]]:
        """What was answered."""
        return [json.loads(each) for each in self.texts]

    def readline(self, size: int | None = -1) -> bytes:  # noqa: ARG002
        assert self._answered.wait(60)
        self._answered.clear()
        params = next(self._calls, None)
        return b"" if params is None else json.dumps(_CALL | {"params": params}).encode() + b"\n"

    def write(self, line: Any) -> int:
        try:
            self.texts.append(json.loads(line)["result"]["content"][0]["text"])
        finally:
            self._answered.set()
        return len(line)


@needs_emulated_avr
def test_from_a_table_to_a_library_and_a_measured_board(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands run in this process; other tests have them in processes of their own."""

    def run_here(_: ChildCommand, words: list[str], folder: Path, limit_s: float) -> Any:
        with contextlib.chdir(folder):
            return run_json(*words)

    monkeypatch.setattr(ChildCommand, "run", run_here)
    calls = journey(lambda tool, **arguments: {"name": tool, "arguments": arguments})
    talk = Talk(*calls.values())
    Server(Confinement(folder), Allowed(600), talk, talk).serve()
    check_journey(dict(zip(calls, talk.texts, strict=True)), folder)


OUTCOMES = [
    {"ok": False, "error": "there is no board at /dev/ttyACM0; connect it"},
    {"ok": True, "port": "/dev/ttyACM0"},
    {"ok": False, "error": "stopped after 600 s; wait", "stopped": True},
]


def test_uploads_are_counted_unless_they_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []

    def run(_: ChildCommand, words: list[str], folder: Path, limit_s: float) -> dict[str, Any]:
        ran.append(words)
        return dict(OUTCOMES[len(ran) - 1])

    monkeypatch.setattr(ChildCommand, "run", run)
    talk = Talk(*[{"name": "upload", "arguments": {}}] * 5)
    Server(Confinement(tmp_path), Allowed(600, 2, "/dev/ttyACM0"), talk, talk).serve()
    assert [each.get("uploads_left") for each in talk.answers] == [2, 1, 0, None, None]
    assert [each["ok"] for each in talk.answers] == [False, True, False, False, False]
    assert talk.answers[-1]["error"] == "the user allowed 2 uploads, and none is left; ask the user"
    assert ran == [["upload", "firmware", "--port=/dev/ttyACM0"]] * 3


def test_a_fault_of_a_tool_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ChildCommand, "run", lambda *_: {"ok": True, "classes": [{}]})
    written = io.BytesIO()
    given = io.BytesIO(
        json.dumps(_CALL | {"params": {"name": "look", "arguments": {"data": "x"}}}).encode()
    )
    server = Server(Confinement(tmp_path), Allowed(600), given, written)
    monkeypatch.setattr(ChildCommand, "stop", lambda _: None)  # at the end of what is given
    server.serve()
    assert json.loads(written.getvalue())["error"]["code"] == -32603


class EndsEarly(io.BytesIO):
    """What is written by a server that reads the end of its messages during an answer."""

    def __init__(self, given: bytes) -> None:
        super().__init__()
        self._lines = iter([given])
        self._answers = threading.Event()

    def readline(self, size: int | None = -1) -> bytes:  # noqa: ARG002
        line = next(self._lines, b"")
        assert line or self._answers.wait(60)
        return line

    def write(self, line: Any) -> int:
        self._answers.set()
        time.sleep(0.3)
        return super().write(line)


def test_the_last_answer_is_written_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ChildCommand, "run", lambda *_: {"ok": True})
    params = {"name": "look", "arguments": {"data": "x"}}
    stream = EndsEarly(json.dumps(_CALL | {"params": params}).encode() + b"\n")
    Server(Confinement(tmp_path), Allowed(600), stream, stream).serve()
    assert json.loads(stream.getvalue())["id"] == 7


def test_modules_in_the_folder_are_not_imported(folder: Path) -> None:
    (folder / "numpy.py").write_text("raise SystemExit('imported')")
    with served(folder) as client:
        assert client.call("look", data="train.csv")["ok"]


@needs_avr_gcc
def test_modules_in_a_project_are_not_imported(folder: Path) -> None:
    save_model(random_model(), folder / "m.npz")
    succeed("build", folder / "m.npz", "-o", folder / "firmware")
    for name in ("click", "requests", "platformio", "SCons"):
        (folder / "firmware" / f"{name}.py").write_text("raise SystemExit('imported')")
    with served(folder, "--uploads", 1, "--port", "/dev/no-port") as client:
        answer = client.call("upload")
    assert not answer["ok"]
    assert "imported" not in answer["error"]


# A command that starts a program; the file tells that it runs.
HEIR = """#!/bin/sh
sleep 600 &
echo $! >writing
mv writing heir
"""


@pytest.mark.parametrize("end", ["returns", "is stopped"])
def test_no_heir_of_a_command_outlives_it(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, heir, command = tmp_path / "python", tmp_path / "heir", ChildCommand()
    program.write_text(HEIR + ("wait\n" if end == "is stopped" else ""))
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    thread = threading.Thread(target=command.run, args=(["look"], tmp_path, 600), daemon=True)
    thread.start()
    while not heir.exists():
        time.sleep(0.02)
    if end == "is stopped":
        command.stop()
    thread.join()
    with contextlib.suppress(psutil.NoSuchProcess):
        assert all_end([psutil.Process(int(heir.read_text()))])


@pytest.mark.parametrize(
    "record",
    [
        {"ok": True, "notices": [{"text": "w" * 5_000, "warning": True}] * 9},
        {"ok": False, "error": "e" * 5_000},
        {"ok": False, "error": '"' * 5_000},
    ],
    ids=["warnings", "an error", "quotes"],
)
def test_long_answers_are_cut(record: dict[str, Any]) -> None:
    figures = {"names": ["n" * 400] * 50, "classes": {str(n): n for n in range(500)}, "x": 1 / 3}
    text = verdict(record, figures)
    assert len(text) <= MOST_CHARACTERS
    found = json.loads(text)
    assert found["ok"] is record["ok"]
    assert found["cut"] is True
    assert found["x"] == 0.3333
    assert ("error" in found) is ("error" in record)


@pytest.mark.parametrize("length", [60, 250])
def test_warnings_come_before_what_is_long(length: int) -> None:
    notices = [{"text": f"{n} " + "w" * length, "warning": True} for n in range(3)]
    figures = {"n": 80, "accuracy": 0.5, "classes": {f"class {n}": n for n in range(400)}}
    found = json.loads(verdict({"ok": True, "notices": notices}, figures))
    assert [*found][:4] == ["ok", "warnings", "n", "accuracy"]
    assert [each.partition(" ")[0] for each in found["warnings"]] == ["0", "1", "2"]
    assert found["cut"] is True


@pytest.mark.parametrize("names", [["n"] * 9_000, {str(n): n for n in range(9_000)}])
def test_a_long_answer_is_cut_in_linear_time(names: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    def text(value: object) -> str:
        lengths.append(len(json.dumps(value)))
        return _text(value)

    monkeypatch.setattr(verdicts, "_text", text)
    assert json.loads(verdict({"ok": True}, {"names": names}))["cut"]
    assert sum(lengths) < 20 * len(json.dumps(names))


def test_notices_that_are_no_warnings_are_left_out() -> None:
    notices = [{"text": "held out", "warning": False}, {"text": "leak", "warning": True}]
    assert json.loads(verdict({"ok": True, "notices": notices}, {"n": 0, "error": None})) == {
        "ok": True,
        "n": 0,
        "warnings": ["leak"],
    }


def test_it_serves_only_a_folder(tmp_path: Path) -> None:
    assert_one_sentence(run("mcp", tmp_path / "none"), "not a folder")
