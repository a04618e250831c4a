"""The exceptions of the package: one base class, one subclass per exit code.

A message is one sentence with the fault, the value, the limit and the remedy; the command line
prints it unchanged and never a traceback.
"""

from __future__ import annotations

import errno

from protonn_edge.system.starting import EXIT_CODE, STOPPED
from protonn_edge.system.wording import worded


class ProtoNNEdgeError(Exception):
    """Base of every error that this package raises on purpose.

    Attributes
    ----------
    exit_code : int
        The command line's exit code: 1 a check failed, 2 bad input or usage, 130 stopped.
    """

    exit_code = 2

    def __str__(self) -> str:
        return printable(worded(super().__str__()))  # names from files may act on a terminal


class InputError(ProtoNNEdgeError, ValueError):
    """A file, an option or an array that cannot be used as it is (exit code 2).

    It is a `ValueError` too, as scikit-learn's conventions expect of an estimator.
    """

    exit_code = 2


class InvalidValue(InputError):
    """A value that its place cannot have, such as ``projection.weights: 12 rows, expected 10``.

    `protonn_edge.system.checks` raises it. The code that knows the origin of the value (a file, an
    option) names it, and what to do.

    Attributes
    ----------
    place, reason, remedy : str
        The name of the value, what is wrong with it, and what to do, if that is known.
    """

    def __init__(self, place: object, reason: str, remedy: str = "") -> None:
        super().__init__(f"{place}: {reason}{remedy and f'; {remedy}'}")
        self.place = str(place)
        self.reason = reason
        self.remedy = remedy

    def within(self, what: str, remedy: str) -> InputError:
        """Return the error of what has the value; `remedy` is for a value without one."""
        if self.place.startswith(f"{what}."):
            return InvalidValue(self.place, self.reason, self.remedy or remedy)
        place = self.place.removeprefix("the ").removeprefix(what).removeprefix(": ")
        reason = f"{place}: {self.reason}" if place else self.reason
        return InvalidValue(what, reason, self.remedy or remedy)


class CheckFailed(ProtoNNEdgeError):
    """The input was fine, but a budget, a comparison or a device did not pass (exit code 1)."""

    exit_code = 1


class DoesNotFit(CheckFailed):
    """Something needs more of a resource, such as flash, than a board or a user has."""


class DeviceError(CheckFailed):
    """A board or its line is at fault, not the model: no answer, other firmware, unplugged."""


class InstrumentError(CheckFailed):
    """An instrument beside the board or its wires are at fault, neither the model nor the board."""


class Interrupted(ProtoNNEdgeError):
    """Stopped by Ctrl-C (exit code 130, as in a shell); the message names the results kept."""

    exit_code = EXIT_CODE

    def __init__(self, message: str = STOPPED) -> None:
        super().__init__(message)


def cannot_read(path: object, error: Exception) -> InputError:
    """Return the error for a file or a folder that the system does not read."""
    reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
    return InputError(f"cannot read {path}: {reason}; check its name and permissions")


def cannot_write(
    path: object, error: Exception | str, remedy: str = "choose another file or folder"
) -> InputError:
    """Return the error for a file or a folder that the system does not write."""
    is_full = isinstance(error, OSError) and error.errno == errno.ENOSPC
    remedy = "make room on the disk" if is_full else remedy
    return InputError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}; {remedy}")


def unneeded(option: str, why: str) -> InputError:
    """Return the error for an option that has no use here; `why` follows its name."""
    return InputError(f"{option} {why}; omit it")


def lacking(source: object, what: str, remedy: str = "add it") -> InputError:
    """Return the error for a file, a folder or a text without something that it must have."""
    return InputError(f"{source} has no {what}; {remedy}")


def beyond(source: object, found: str, limit: int, remedy: str) -> InputError:
    """Return the error for something larger than the package takes."""
    return InputError(f"{source} has {found}, but the limit is {limit:,}; {remedy}")


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number of things for a message: "1 take", "2,000 takes", "2 people"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def printable(text: str) -> str:
    """Return `text` on one line, with unprintable characters escaped."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def shortened(text: str, limit: int = 80) -> str:
    """Return `text` for a message, with its middle cut out if it is longer than `limit`."""
    if len(text) <= limit:
        return text
    kept = (limit - 3) // 2
    return f"{text[:kept]}...{text[-kept:]}"
