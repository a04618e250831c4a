"""Change valid files a little: arrays, archives of them, JSON, tables of text, bytes.

Each function takes a generator of random numbers first and returns a new value.
"""

from __future__ import annotations

import copy
import io
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

Any_ = TypeVar("Any_")
Generator = np.random.Generator

NUMBERS: tuple[float | int, ...] = (
    *(0, 1, -1, 2, 3, 127, 128, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**32, 2**63, 2**64),
    *(-(2**31), -(2**63), 10**30, 10**400, 0.5, -0.0, 1e-45, 5e-324, 1e-300, 1e30, 3.5e38, -3.5e38),
    *(1e300, 1.7e308, float("inf"), float("-inf"), float("nan")),
)
TEXTS = (
    *("", " ", "0", "-1", "1e5", "1e999", "nan", "inf", "-Infinity", "0x10", "1_000", "1,5", "١٢"),
    *("label", "None", "true", "null", "../../etc/passwd", "a\nb", "a\rb", "a\x00b", '"', "'", ";"),
    *("=1+1", "*/ #error", "</script><script>alert(1)</script>", "{{ 7 * 7 }}", "%s%n", "$(id)"),
    *("\ufeff", "\u202e", "\ud7ff", "\U0001f600", "é" * 200, "x" * 5000, "9" * 400, "-" * 70),
)
_DTYPES = (
    "i1",
    "u1",
    ">i2",
    "i4",
    "i8",
    "u8",
    "f2",
    "f4",
    "f8",
    ">f8",
    "c16",
    "U5",
    "S3",
    "?",
    "M8[s]",
)


def pick(rng: Generator, values: Sequence[Any_]) -> Any_:
    """Return one of some values, with the type that it has."""
    return values[int(rng.integers(len(values)))]


# --- arrays ---------------------------------------------------------------------------------------


def mutated_array(rng: Generator, array: np.ndarray) -> np.ndarray:
    """Return an array with another type, another shape or other values."""
    change = pick(rng, (_retyped, _reshaped, _with_value, _with_value, _with_value, _scaled))
    with np.errstate(all="ignore"):
        return change(rng, array)


def _retyped(rng: Generator, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind == "c":  # NumPy warns where it leaves out the imaginary part
        array = array.real
    try:
        return array.astype(pick(rng, _DTYPES))
    except (ValueError, TypeError, OverflowError):
        return np.zeros(array.shape, pick(rng, _DTYPES))


def _reshaped(rng: Generator, array: np.ndarray) -> np.ndarray:
    shapes: list[Callable[[], np.ndarray]] = [
        lambda: array.T,
        array.ravel,
        lambda: array[None],
        lambda: array[..., None],
        lambda: np.atleast_1d(array)[:0],
        lambda: np.atleast_1d(array)[:1],
        lambda: np.atleast_1d(array)[:-1],
        lambda: np.atleast_1d(array)[..., :-1],
        lambda: np.concatenate([np.atleast_1d(array)] * 2),
        lambda: np.concatenate([np.atleast_1d(array)] * 2, axis=-1),
        lambda: np.repeat(np.atleast_1d(array)[:1], int(rng.integers(1, 400)), axis=0),
        lambda: np.asfortranarray(array),
        lambda: np.zeros((0,) * int(rng.integers(1, 4)), array.dtype),
    ]
    return pick(rng, shapes)()


def _with_value(rng: Generator, array: np.ndarray) -> np.ndarray:
    changed = array.copy()
    if changed.size == 0:
        return changed
    place = int(rng.integers(changed.size))
    value: Any = pick(rng, TEXTS) if changed.dtype.kind in "US" else pick(rng, NUMBERS)
    if changed.dtype.kind == "U":
        changed = changed.astype(f"U{max(1, min(len(value), 300))}")
    where = slice(None) if rng.random() < 0.2 else place
    try:
        changed.reshape(-1)[where] = value
    except (OverflowError, ValueError, TypeError):
        if changed.dtype.kind in "iu":
            changed.reshape(-1)[where] = rng.integers(0, 100)
    return changed


def _scaled(rng: Generator, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in "iuf":
        return array
    most = pick(rng, (2, 2, 45))
    return (array * 10.0 ** rng.integers(-most, most + 1)).astype(array.dtype)


def mutated_arrays(rng: Generator, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return arrays of which some are other ones, missing, surplus or have another name."""
    changed = dict(arrays)
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        name = pick(rng, sorted(changed))
        chance = rng.random()
        if chance < 0.08 and len(changed) > 1:
            del changed[name]
        elif chance < 0.12:
            changed[pick(rng, TEXTS)[:60] or "x"] = changed[name]
        elif chance < 0.2:
            changed[name] = changed[pick(rng, sorted(changed))]
        else:
            changed[name] = mutated_array(rng, changed[name])
    return changed


def npz_bytes(rng: Generator, arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return an .npz of arrays, now and then one as nobody writes it."""
    buffer = io.BytesIO()
    twice = pick(rng, sorted(arrays)) if rng.random() < 0.03 else None
    method = zipfile.ZIP_DEFLATED if rng.random() < 0.3 else zipfile.ZIP_STORED
    with zipfile.ZipFile(buffer, "w", method) as archive, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Duplicate name")
        for name, array in arrays.items():
            content = _npy_bytes(rng, array)
            for _ in range(1 + (name == twice)):
                archive.writestr(zipfile.ZipInfo(f"{name}.npy".replace("\0", "")), content, method)
        if rng.random() < 0.02:
            archive.writestr("../outside.npy", b"x")
    return buffer.getvalue()


def _npy_bytes(rng: Generator, array: np.ndarray) -> bytes:
    content = io.BytesIO()
    np.lib.format.write_array(content, np.asanyarray(array), allow_pickle=True)
    if rng.random() < 0.01:  # its header is text, which is evaluated
        header = content.getvalue()
        return mutated_bytes(rng, header[:128]) + header[128:]
    return content.getvalue()


# --- text and bytes -------------------------------------------------------------------------------


def mutated_bytes(rng: Generator, data: bytes) -> bytes:
    """Return bytes with a few changed, cut off, put in, taken out or twice."""
    changed = bytearray(data)
    for _ in range(int(rng.choice([1, 1, 2, 4, 16]))):
        size = len(changed)
        begin, end = sorted(int(place) for place in rng.integers(0, size + 1, 2))
        end = min(end, begin + int(rng.choice([1, 4, 64, 10_000])))
        chance = rng.random()
        if chance < 0.4 and size:
            changed[min(begin, size - 1)] ^= 1 << int(rng.integers(8))
        elif chance < 0.5:
            del changed[begin:]
        elif chance < 0.65:
            del changed[begin:end]
        elif chance < 0.8:
            changed[begin:begin] = rng.bytes(int(rng.choice([1, 2, 8, 100])))
        elif chance < 0.9:
            changed[begin:begin] = changed[begin:end]
        else:
            changed[begin:end] = bytes(end - begin)
    return bytes(changed)


def mutated_text(rng: Generator, text: str, marks: str = ",;\t\n \"'") -> str:
    """Return text with other cells, rows, marks or encodings of lines."""
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        lines = text.split("\n")
        row = int(rng.integers(len(lines)))
        mark = pick(rng, marks)
        chance = rng.random()
        if chance < 0.5:
            cells = lines[row].split(pick(rng, marks) if rng.random() < 0.2 else ",")
            place = int(rng.integers(len(cells)))
            odd = pick(rng, TEXTS) if rng.random() < 0.5 else str(pick(rng, NUMBERS))
            if rng.random() < 0.2:
                del cells[place]
            else:
                cells[place : place + int(rng.integers(2))] = [odd]
            lines[row] = ",".join(cells)
        elif chance < 0.6:
            del lines[row]
        elif chance < 0.7:
            lines.insert(row, pick(rng, lines))
        elif chance < 0.8:
            place = int(rng.integers(len(lines[row]) + 1))
            lines[row] = lines[row][:place] + mark + lines[row][place:]
        elif chance < 0.9:
            lines = [line.replace(",", mark) for line in lines]
        else:
            return text.replace("\n", pick(rng, ("\r\n", "\r", "\n\n", "\x0b", "\u2028")))
        text = "\n".join(lines)
    return text


def encoded(rng: Generator, text: str) -> bytes:
    """Return text as UTF-8, or now and then as something else."""
    if rng.random() < 0.9:
        return text.encode("utf-8", "replace")
    return text.encode(
        pick(rng, ("utf-8-sig", "utf-16", "utf-16-le", "latin-1", "utf-32")), "replace"
    )


# --- JSON -----------------------------------------------------------------------------------------


def mutated_json(rng: Generator, value: Any) -> Any:
    """Return what JSON can hold with one part of another type or value, missing or moved."""
    changed = copy.deepcopy(value)
    holders = list(_holders(changed))
    if not holders:
        return _odd_json(rng, value)
    holder, key = pick(rng, holders)
    chance = rng.random()
    if chance < 0.15:
        del holder[key]
    elif chance < 0.25 and isinstance(holder, dict):
        holder[pick(rng, TEXTS)] = holder.pop(key)
    elif chance < 0.35:
        holder[key] = [holder[key]] * int(rng.integers(0, 4))
    else:
        holder[key] = _odd_json(rng, holder[key])
    return changed


def _holders(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each dict or list in a value, with each of its keys."""
    if not isinstance(value, dict | list):
        return
    for key, part in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        yield from _holders(part)


def _odd_json(rng: Generator, value: Any) -> Any:
    deep: Any = value
    for _ in range(int(rng.choice([1, 3, 90]))):
        deep = [deep]
    return pick(
        rng, (None, True, False, [], {}, "", deep, {"a": value}, *NUMBERS, *TEXTS, str(value))
    )
