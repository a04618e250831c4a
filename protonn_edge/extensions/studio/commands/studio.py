"""``protonn-edge studio``: Record, edit, train and try models in the browser."""

from __future__ import annotations

import os
import signal
import threading
import webbrowser
from contextlib import ExitStack
from pathlib import Path

import click

from protonn_edge.cli.command import Output, argument, command, option
from protonn_edge.cli.options import FOLDER
from protonn_edge.codegen.renderer import html_environment
from protonn_edge.extensions.studio.drops import Drops
from protonn_edge.extensions.studio.server import StudioServer
from protonn_edge.extensions.studio.workspace import Workspace, read_ahead
from protonn_edge.system.errors import InputError, cannot_write
from protonn_edge.system.folders import scratch_folder
from protonn_edge.system.loopback import check_loopback


def _forwarding_page(address: str, stack: ExitStack) -> Path:
    """Write a page that only this user can read, and that leads to an address.

    Other users of the computer can read what a browser is started with, so it is not the address
    with its token.
    """
    folder = stack.enter_context(scratch_folder(Path.cwd()))
    page = folder / "studio.html"
    page.touch(0o600)
    page.write_text(html_environment().get_template("forward.html.j2").render(address=address))
    return page


@command("studio", examples=("", "gestures"))
def studio_command(
    folder: Path = argument(FOLDER, default=Path()),
    port: int = option(
        "The port of the page on this computer.", click.IntRange(0, 65535), shown=8765
    ),
    quiet: bool = option(
        "Print the page's address, but open no browser.", flag="--no-browser", is_flag=True
    ),
) -> None:
    """Open a page on this computer for the recordings and models in FOLDER.

    The page runs the other commands, and shows the command line of each action. Only programs on
    this computer that know the address can open it. Ctrl-C ends the page, and what it has begun.
    """
    out = Output(as_json=False)
    # A program that a shell starts in the background ignores Ctrl-C, and so would its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        folder.mkdir(exist_ok=True)
        os.chdir(folder)  # every name in the page is one in this folder
    except OSError as error:
        raise cannot_write(folder, error) from error
    workspace = Workspace(Path.cwd())
    check_loopback("the studio")
    try:
        server = StudioServer(workspace, port)
    except OSError as error:
        raise InputError(
            f"port {port} of this computer is taken ({error.strerror}); give --port 0"
        ) from error
    with server, ExitStack() as stack:
        out.say(f"the studio of {Path.cwd()}: {server.url}", "press Ctrl-C to end it")
        threading.Thread(target=read_ahead, daemon=True).start()
        Drops.clear(Path.cwd())
        workspace.jobs.processes.warm_up()
        if not quiet:
            webbrowser.open(_forwarding_page(server.url, stack).as_uri())
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            out.say("ended")
        finally:
            workspace.close()
