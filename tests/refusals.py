"""Refusals by their place and kind; the words of all of them are in ``sentences/sentences.txt``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import Result
from command_line import refusal

import protonn_edge
from protonn_edge.system.errors import InputError, InvalidValue, ProtoNNEdgeError

PACKAGE = Path(protonn_edge.__file__).parent
CHECKS = ("system.errors", "system.checks")  # these raise for other modules


@contextmanager
def refused_by(
    *where: str, kind: type[ProtoNNEdgeError] = InputError, naming: str = ""
) -> Iterator[None]:
    """Expect a sentence of a kind from a module, such as "data.takes.takes", or about a value.

    If the cases of a test are refused in different places, one of these is enough. What the package
    finds out to say, such as a line's number, is to be named.
    """
    with pytest.raises(kind) as caught:
        yield
    assert "\n" not in str(caught.value)
    assert naming in str(caught.value), caught.value
    places = places_of(caught.value)
    assert {*places} & {*where}, f"{caught.value} ({places})"


def refuses(done: Result, *where: str, exit_code: int = 2) -> None:
    """Check that a command refused with one sentence, because of an error from a module."""
    refusal(done, exit_code)
    error: BaseException | None = done.exception
    while error is not None and not isinstance(error, ProtoNNEdgeError):
        error = error.__context__
    places = places_of(error)
    assert {*places} & {*where}, f"{done.stderr} ({places})"


def places_of(error: BaseException | None) -> list[str]:
    """Return the module that raised an error, and what a check of a value calls the value.

    An error that was raised from another one has the other's places, too.
    """
    places: list[str] = []
    while isinstance(error, ProtoNNEdgeError):
        frames, trace = list[Path](), error.__traceback__
        while trace is not None:
            frames.append(Path(trace.tb_frame.f_code.co_filename))
            trace = trace.tb_next
        own = (each for each in frames if each.is_relative_to(PACKAGE))
        names = (".".join(each.relative_to(PACKAGE).with_suffix("").parts) for each in own)
        places += [name.removesuffix(".__init__") for name in names if name not in CHECKS][-1:]
        places += [error.place] if isinstance(error, InvalidValue) else []
        error = error.__cause__
    return places
