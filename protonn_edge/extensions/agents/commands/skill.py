"""``protonn-edge skill``: Print or install instructions for agents."""

from __future__ import annotations

from pathlib import Path

from protonn_edge.cli.command import OUTPUT, Output, command, option
from protonn_edge.cli.options import FOLDER
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import read_file, write_atomically

NAME = "protonn-edge"
_FILE = Path(__file__).parents[1] / "SKILL.md"
_MOST_BYTES = 1_000_000
_BEGIN = f"---\nname: {NAME}\n".encode()


@command("skill", examples=("", "-o .claude/skills"))
def skill_command(
    output: Path | None = option(
        "The folder of an agent's skills, such as .claude/skills; the file is "
        f"{NAME}/SKILL.md there.",
        FOLDER,
    ),
    out: Output = OUTPUT,
) -> None:
    """Print the instructions that agents need to use these commands, or install them.

    They list the commands in the order of work, what to report to the user, and what not to do.
    """
    text = _FILE.read_text("utf-8")
    if output is None:
        out.say(text.rstrip())
        out.finish({"path": None, "text": text})
        return
    path = output / NAME / _FILE.name
    if path.exists() and not read_file(path, limit_bytes=_MOST_BYTES).startswith(_BEGIN):
        raise InputError(f"{path} is another skill, and is not replaced; remove it, or choose -o")
    write_atomically(path, text)
    out.say(f"wrote {path}")
    out.finish({"path": str(path), "text": text})
