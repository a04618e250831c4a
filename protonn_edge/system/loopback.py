"""The loopback interface, by which programs on one computer talk to each other.

Some containers and sandboxes have none.
"""

from __future__ import annotations

import socket

from protonn_edge.system.errors import InputError

ADDRESS = "127.0.0.1"
_ANSWER_S = 5.0


def check_loopback(user: str) -> None:
    """Raise `InputError` if no connection to this computer is possible, which `user` needs."""
    try:
        with socket.create_server((ADDRESS, 0)) as server:
            socket.create_connection(server.getsockname(), _ANSWER_S).close()
    except OSError as error:
        raise InputError(
            f"this computer has no loopback interface ({ADDRESS}: {error.strerror or error}), "
            f"which {user} needs; turn it on, such as with 'ip link set lo up', or run the command "
            "outside of this container"
        ) from error
