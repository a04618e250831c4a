"""The server of the page: on this computer only, for those who know its token.

Another computer cannot connect, since the server listens to 127.0.0.1 only. A page of another site
can neither read nor order anything: it does not have the token, which is no cookie and so is never
sent automatically; its Host, Origin and Sec-Fetch-Site differ, too, also after DNS rebinding. The
page sends no path, and no word of a command line.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import socket
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from protonn_edge.extensions.studio.incoming import MOST_BYTES
from protonn_edge.extensions.studio.jobs import Busy
from protonn_edge.extensions.studio.request import Changed
from protonn_edge.extensions.studio.tabs import as_json
from protonn_edge.extensions.studio.words import PAGE
from protonn_edge.extensions.studio.workspace import ORDERS, QUESTIONS, Order, Workspace
from protonn_edge.system.errors import ProtoNNEdgeError, shortened
from protonn_edge.system.files import resource
from protonn_edge.system.shell import WINDOWS
from protonn_edge.system.wording import speaking

_BODY_LIMIT_BYTES = 1 << 16
_REQUEST_S = 30.0
_UNREAD_BYTES, _UNREAD_S = 1 << 28, 5.0  # of a body that was refused
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".zip": "application/zip",  # which browsers save
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
    "data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
_SHOWN_POLICY = "sandbox allow-scripts; frame-ancestors 'none'"
"""The policy of a report, whose script must not act for the page."""


class Refused(Exception):
    """A request that gets only a status and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class StudioServer(ThreadingHTTPServer):
    """Serves the page of a workspace on a port of this computer; 0 is a free one."""

    daemon_threads = True
    allow_reuse_address = not WINDOWS  # where it would let others listen to the same port

    def __init__(self, workspace: Workspace, port: int) -> None:
        self.workspace = workspace
        self.token = secrets.token_urlsafe(24)
        self.static = _static_files()
        super().__init__(("127.0.0.1", port), _Handler)
        self.hosts = tuple(f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost"))

    def serve_forever(self, poll_interval: float = 0.5) -> None:
        """Serve, with errors and notices in words of the page."""
        with speaking(PAGE):
            super().serve_forever(poll_interval)

    @property
    def url(self) -> str:
        """The page's address; its part behind # never leaves the browser."""
        return f"http://{self.hosts[0]}/#{self.token}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore connections that their other end closes."""


def _static_files() -> dict[str, tuple[bytes, str]]:
    """Return the contents and kinds of the page's files, by their addresses."""
    folder = Path(__file__).parent / "web"
    found = [path for path in folder.iterdir() if path.suffix in _KINDS]
    files = {f"/{path.name}": (path.read_bytes(), _KINDS[path.suffix]) for path in found}
    style = resource("templates") / "html" / "report.css"
    files["/report.css"] = style.read_bytes(), _KINDS[".css"]
    return {**files, "/": files["/index.html"]}


def _length(length: str, limit: int) -> int:
    """Return the length of a body; one that is too long is not read."""
    if not (length.isascii() and length.isdigit()):
        raise Refused(411, "give the length of the body")
    if int(length) > limit:
        raise Refused(413, f"the limit is {limit:,} bytes; use a smaller file")
    return int(length)


class _Handler(BaseHTTPRequestHandler):
    server: StudioServer
    protocol_version = "HTTP/1.1"
    server_version = "protonn-edge"
    sys_version = ""
    timeout = _REQUEST_S

    def do_GET(self) -> None:
        """Answer a request for a file, or for the stream of messages."""
        self._answer(self._got)

    def do_POST(self) -> None:
        """Answer a question, or follow an order."""
        self._answer(self._posted)

    def do_PUT(self) -> None:
        """Take files that were dropped on the page."""
        self._answer(self._put)

    def log_message(self, *_: object) -> None:
        """Print no line for each request."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that is no HTTP, or asks for another method."""
        self._send(code, {"error": explain or message or "this is no request of the page"})

    def _answer(self, how: Callable[[], None]) -> None:
        try:
            self._check_sender()
            how()
        except Refused as refused:
            self._send(refused.status, {"error": str(refused)})
        except (Busy, Changed) as error:
            self._send(409, {"error": str(error)})
        except ProtoNNEdgeError as error:
            self._send(400, {"error": str(error)})
        except (BrokenPipeError, ConnectionError, TimeoutError):
            self.close_connection = True
        except OSError as error:
            self._send(400, {"error": f"cannot use the folder: {error.strerror}"})
        except Exception as error:  # noqa: BLE001 - one request must not end the page
            summary = shortened(f"{type(error).__name__}: {error}", 200)
            self._send(500, {"error": f"this is a bug in protonn-edge ({summary})"})

    def _check_sender(self) -> None:
        """Refuse anyone who is not the page, by what browsers say of a request."""
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or hosts[0] not in self.server.hosts:
            raise Refused(403, "this page has another address; use the one that was printed")
        own = f"http://{hosts[0]}"
        if self.headers.get("Origin", own) != own:
            raise Refused(403, "the request comes from a page of another site")
        # A browser that is led to the page by a link or a file opens it; the page has no secret.
        opened = self.path == "/" and self.headers.get("Sec-Fetch-Dest") == "document"
        allowed = ("same-origin", "none", *(["cross-site"] if opened else []))
        if self.headers.get("Sec-Fetch-Site", "none") not in allowed:
            raise Refused(403, "the request comes from a page of another site")
        if self.headers.get("Transfer-Encoding"):
            raise Refused(411, "give the length of the body")

    def _check_token(self) -> None:
        given = self.headers.get("Authorization", "").removeprefix("Bearer ").encode()
        if not secrets.compare_digest(given, self.server.token.encode()):
            raise Refused(403, "open the address that 'protonn-edge studio' printed")

    def _got(self) -> None:
        self.close_connection |= "Content-Length" in self.headers  # a body that nobody reads
        if self.path in self.server.static:
            self._send(200, *self.server.static[self.path])
            return
        if self.path.startswith("/shown/"):
            file = self.server.workspace.tabs.shown(self.path.removeprefix("/shown/"))
            if file is None:
                raise Refused(404, "this page was shown already; open it from the studio again")
            kind = _KINDS.get(file.suffix.lower(), _KINDS[".zip"])
            self._send(200, file.read_bytes(), kind, _SHOWN_POLICY)
            return
        self._check_token()
        if self.path != "/messages":
            raise Refused(404, "there is no such page")
        with contextlib.closing(self.server.workspace.tabs.messages()) as lines:
            self.close_connection = True
            first = next(lines)
            self._head(200, "application/x-ndjson", None, _POLICY)
            self.wfile.write(first)
            self.wfile.writelines(lines)

    def _posted(self) -> None:
        self._check_token()
        name = self.path.removeprefix("/do/").removeprefix("/ask/")
        table: Mapping[str, Order] = QUESTIONS if self.path.startswith("/ask/") else ORDERS
        if name not in table or self.path not in (f"/ask/{name}", f"/do/{name}"):
            raise Refused(404, "there is no such action")
        try:
            asked = json.loads(self._body(_BODY_LIMIT_BYTES) or b"{}")
        except (ValueError, RecursionError) as error:
            raise Refused(400, "the request is no JSON") from error
        if not isinstance(asked, dict):
            raise Refused(400, "the request is no JSON object")
        workspace = self.server.workspace
        self._send(200, table[name](workspace, workspace.request(asked)) or {})

    def _put(self) -> None:
        self._check_token()
        if self.path != "/drop":
            raise Refused(404, "there is no such action")
        length = _length(self.headers.get("Content-Length", ""), MOST_BYTES)
        self._send(200, self.server.workspace.drops.receive(self.rfile, length))

    def _body(self, limit: int) -> bytes:
        """Return the body; one that is too long is not read."""
        length = _length(self.headers.get("Content-Length", ""), limit)
        body = self.rfile.read(length)
        if len(body) < length:
            raise Refused(400, "the body is shorter than its length")
        return body

    def _send(
        self,
        status: int,
        content: bytes | Mapping[str, object],
        kind: str = _KINDS[".json"],
        policy: str = _POLICY,
    ) -> None:
        body = content if isinstance(content, bytes) else as_json(content)
        if status >= 400:  # the body of the request may be unread
            self.close_connection = True
        self._head(status, kind, len(body), policy)
        self.wfile.write(body)
        if status >= 400:
            self._leave()

    def _leave(self) -> None:
        """Read on what is still sent; else the line breaks before the browser reads the answer."""
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_WR)
        self.connection.settimeout(_UNREAD_S)
        left = _UNREAD_BYTES
        while left > 0 and (piece := self.connection.recv(1 << 16)):
            left -= len(piece)

    def _head(self, status: int, kind: str, length: int | None, policy: str) -> None:
        self.send_response_only(status)
        head = {
            "Content-Type": kind,
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
        }
        head |= {} if length is None else {"Content-Length": str(length)}
        head |= {"Connection": "close"} if self.close_connection else {}
        for name, value in head.items():
            self.send_header(name, value)
        self.end_headers()
