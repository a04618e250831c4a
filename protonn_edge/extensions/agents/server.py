"""The Model Context Protocol over two streams: one JSON-RPC message a line.

Specification: https://modelcontextprotocol.io/specification. A message may come at any time, also
while a tool's command runs, so that commands run in a thread: one at a time, and a second one is
refused.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, NoReturn

from protonn_edge import __version__
from protonn_edge.extensions.agents.child import ChildCommand
from protonn_edge.extensions.agents.confinement import Confinement
from protonn_edge.extensions.agents.tools import UPLOAD, interface_of, tools_for
from protonn_edge.extensions.agents.verdicts import verdict
from protonn_edge.system.errors import ProtoNNEdgeError, counted
from protonn_edge.system.schema import JsonObject

VERSIONS = ("2025-11-25", "2025-06-18", "2024-11-05")
"""The versions of the protocol, the newest first; what is used here is the same in all.

Version 2025-03-26 is none of them: its servers must accept several messages in a line.
"""

MOST_BYTES = 100_000
"""The longest message."""

INSTRUCTIONS = (
    "From labelled data to a classifier on a microcontroller. Order: look, train, build, verify, "
    "measure, export; windows before train for samples over time. Paths are relative to one "
    "folder. Every answer begins with ok; if it is false, error ends with what to try: give an "
    'option that it names in options, such as {"missing": "median"}, a flag as true. equal: '
    "all scores are those of NumPy; if it is false, report a bug. Accuracy is of points that "
    "training did not see: state its interval and the baseline, and pass on every warning. "
    "cut: something was left out."
)

_INVALID_JSON, _INVALID_MESSAGE, _NO_METHOD, _INVALID_ARGUMENTS = -32700, -32600, -32601, -32602


@dataclass(frozen=True)
class Allowed:
    """What the user allows the agent."""

    limit_s: float  # the time of a command
    uploads: int = 0  # how often firmware may be written to a board
    port: str | None = None  # of that board


class _Refused(Exception):
    """A message that is answered with an error of JSON-RPC."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(eq=False)
class _Call:
    """A tool that runs for a message."""

    id: object
    child: ChildCommand = field(default_factory=ChildCommand)
    thread: threading.Thread | None = None


class Server:
    """A server for one client, which sends its messages on `given` and reads `written`."""

    def __init__(
        self, confinement: Confinement, allowed: Allowed, given: BinaryIO, written: BinaryIO
    ) -> None:
        self._confinement = confinement
        self._allowed = allowed
        self._given = given
        self._written = written
        self._tools = tools_for(allowed.port, allowed.uploads)
        self._uploads_left = allowed.uploads
        self._lock = threading.RLock()  # of `_written` and `_running`
        self._running: _Call | None = None

    def serve(self) -> None:
        """Answer messages until the client closes its stream; then end the command that runs."""
        try:
            for line in self._lines():
                self._take(line)
        finally:
            with self._lock:
                call = self._running
            if call is not None and call.thread is not None:
                call.child.stop()
                call.thread.join()

    def _lines(self) -> Iterator[bytes]:
        """Yield lines, of those that are too long only the beginning."""
        while line := self._given.readline(MOST_BYTES + 1):
            end = line
            while not end.endswith(b"\n") and end:
                end = self._given.readline(MOST_BYTES)
            if line.strip():
                yield line

    def _take(self, line: bytes) -> None:
        """Answer a message, or begin to."""
        number: object = None
        try:
            message = _parsed(line)
            if "method" not in message and ("result" in message or "error" in message):
                return  # an answer, but nothing was asked
            number = message.get("id")
            if "id" in message and type(number) not in (int, str):
                number = None
                raise _Refused(_INVALID_MESSAGE, "the id is not a number or a text")
            method, params = message.get("method"), message.get("params", {})
            if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
                raise _Refused(_INVALID_MESSAGE, "this is not a message of JSON-RPC 2.0")
            if not isinstance(params, dict):
                raise _Refused(_INVALID_ARGUMENTS, "the parameters are not an object")
            if "id" not in message:
                self._note(method, params)
            elif method == "tools/call":
                self._begin(number, params)
            else:
                self._send(id=number, result=self._result(method, params))
        except _Refused as error:
            self._send(id=number, error={"code": error.code, "message": str(error)})

    def _result(self, method: str, params: JsonObject) -> JsonObject:
        """Return the answer to what needs no command."""
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": [tool.described(name) for name, tool in self._tools.items()]}
        if method != "initialize":
            raise _Refused(_NO_METHOD, f"there is no method {method[:80]!r}")
        wanted = params.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "protonn-edge", "version": __version__},
            "instructions": INSTRUCTIONS,
        }

    def _note(self, method: str, params: JsonObject) -> None:
        """Stop the call that a client cancels; other notifications need nothing."""
        call = self._running
        is_cancelled = method == "notifications/cancelled"
        if is_cancelled and call is not None and call.id == params.get("requestId"):
            call.child.stop()

    def _begin(self, number: object, params: JsonObject) -> None:
        """Start a tool; it answers later."""
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or name not in self._tools:
            raise _Refused(_INVALID_ARGUMENTS, f"the tools are {', '.join(self._tools)}")
        if self._running is not None:
            busy = "another tool is still running; wait for its answer, and call this one again"
            self._send(id=number, result=_content({"ok": False, "error": busy}, {}))
            return
        call = self._running = _Call(number)
        call.thread = threading.Thread(target=self._answer, args=(call, name, arguments))
        call.thread.start()

    def _answer(self, call: _Call, name: str, arguments: object) -> None:
        """Run a tool and answer; a call that was cancelled gets no answer."""
        answer: JsonObject = {}
        try:
            answer = {"result": self._called(call.child, name, arguments)}
        except Exception as error:  # noqa: BLE001  (the client must hear of it)
            bug = f"this is a bug in protonn-edge ({type(error).__name__}: {error})"
            answer = {"error": {"code": -32603, "message": bug[:400]}}
        with self._lock:  # or `serve` would return before the answer is written
            self._running = None
            if not call.child.is_stopped:
                self._send(id=call.id, **answer)

    def _called(self, child: ChildCommand, name: str, arguments: object) -> JsonObject:
        """Return the result of a tool."""
        tool = self._tools[name]
        try:
            values = self._confinement.checked(tool.schema, tool.required, arguments)
        except ProtoNNEdgeError as error:
            return _content({"ok": False, "error": str(error)}, {})
        if name == UPLOAD and not self._uploads_left:
            allowed = counted(self._allowed.uploads, "upload")
            spent = f"the user allowed {allowed}, and none is left; ask the user"
            return _content({"ok": False, "error": spent}, {})
        record = child.run(tool.command(values), self._confinement.folder, self._allowed.limit_s)
        words = interface_of(tool, self._tools)
        for each, key in [(record, "error"), *((one, "text") for one in record.get("notices", ()))]:
            each[key] = each.get(key) and words.worded(each[key])
        more = tool.figures(record)
        if name == UPLOAD:
            # An upload that was stopped may have written to the board.
            self._uploads_left -= record["ok"] or "stopped" in record
            more["uploads_left"] = self._uploads_left
        return _content(record, more)

    def _send(self, **message: object) -> None:
        """Write a message; a client that is gone needs none."""
        line = json.dumps({"jsonrpc": "2.0", **message}, allow_nan=False).encode() + b"\n"
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._written.write(line)
            self._written.flush()


def _content(record: JsonObject, more: JsonObject) -> JsonObject:
    """Return the result of a tool: the text that the agent reads."""
    text = verdict(record, more)
    return {"content": [{"type": "text", "text": text}], "isError": record.get("ok") is not True}


def _parsed(line: bytes) -> JsonObject:
    """Return the message in a line."""
    if len(line) > MOST_BYTES:
        raise _Refused(_INVALID_MESSAGE, f"the message is longer than {MOST_BYTES:,} bytes")
    try:
        message = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise _Refused(_INVALID_JSON, f"this is not JSON: {str(error)[:200]}") from error
    if not isinstance(message, dict):
        raise _Refused(_INVALID_MESSAGE, "the message is not an object")
    return message


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
