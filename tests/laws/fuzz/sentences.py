"""What every refusal has in common: the package's own error, and one sentence."""

from __future__ import annotations

from command_line import run

from protonn_edge.system.errors import CheckFailed, InputError, ProtoNNEdgeError

REFUSALS = (InputError, CheckFailed)

_LONGEST = 700  # characters; a name in a sentence is shortened
_EXIT_CODES = (0, 1, 2)


def check_refusal(error: ProtoNNEdgeError) -> None:
    """Check that a refusal is one sentence."""
    _check_sentence(str(error))


def check_command(*arguments: object) -> bool:
    """Run a command; return whether it succeeded, or check that it ended in one sentence."""
    done = run(*arguments)
    words = " ".join(map(str, arguments))[-80:]
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in _EXIT_CODES, f"{words}: exit code {done.exit_code}"
    if done.exit_code == 0:
        assert "Warning" not in done.stderr, f"{words}: {done.stderr[:200]!r}"
        return True
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, f"{words}: {done.stderr[:200]!r}"
    _check_sentence(lines[0])
    return False


def _check_sentence(words: str) -> None:
    assert words.isprintable(), f"a refusal has characters that a terminal acts on: {words!r}"
    assert len(words) <= _LONGEST, f"a refusal has {len(words)} characters: {words[:100]!r}"
