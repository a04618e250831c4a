"""The file that a model was trained on, and how training divided it.

A model's record has the digest of the file, the held-out share, the seed, the name of the groups
and the options for reading the file. The same file is read and divided in the same way again, so
that commands find the held-out rows in it. A checksum detects rows, labels or groups other than in
training, because of other options.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import NO_CLASS, names_at
from protonn_edge.data.points.drift import ENDS, WHOLE, blocks_of, ends_of, on_another_day
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InvalidValue, cannot_read, lacking
from protonn_edge.system.files import check_file
from protonn_edge.system.schema import JsonObject

RECORDED = "file"
"""The entry of a model's record that contains the division of its file."""

_LIMIT_BYTES = 8 << 30
_MOST_DRAWS = 200


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file or, for a folder, of the names and contents of all files."""
    if path.is_dir():
        files = sorted(each for each in path.rglob("*") if each.is_file())
        parts = (f"{each.relative_to(path).as_posix()}\0{digest_of(each)}\n" for each in files)
        return hashlib.sha256("".join(parts).encode(errors="surrogateescape")).hexdigest()
    check_file(path, limit_bytes=_LIMIT_BYTES, may_be_empty=True)
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise cannot_read(path, error) from error


@dataclass(frozen=True)
class Division:
    """The division of a file into rows for training and held-out rows."""

    sha256: str  # of the file, see `digest_of`
    share: float = 0.0  # that was held out; 0 if all rows were for training
    seed: int = 0
    groups: str = ""  # the array, column or file of groups; empty for rows or overlapping windows
    label: str = ""  # the column of labels
    check: int = 0  # the CRC-32 of the bits of the held-out rows
    read: list[str] = field(default_factory=list)  # how the file was read, see `texts_of`
    # the numbers of the groups that were held out, if they were named, which then are the share
    held: list[int] = field(default_factory=list)
    source: str = ""  # the SHA-256 of the recording that its windows were cut from, if known
    blocks: str = ""  # the part of them that was held out, see `drift`; empty for rows or groups
    # the features that drift, of which held-out rows have another course: names, or numbers from 1
    drifting: list[str] = field(default_factory=list)

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        """Read and check the division in a model's record; None if there is none."""
        if (entry := record.get(RECORDED)) is None:
            return None
        try:
            division = cls(**entry)
            kinds = {name: type(value) for name, value in vars(cls("")).items()}
            fits = all(type(value) is kinds[name] for name, value in asdict(division).items())
            fits = fits and 0 <= division.share < 1 and 0 <= division.seed < 1 << 64
            fits = fits and all(isinstance(text, str) for text in division.read)
            fits = fits and all(type(number) is int for number in division.held)
            fits = fits and all(isinstance(name, str) for name in division.drifting)
            fits = fits and division.blocks in ("", WHOLE, ENDS)
        except (TypeError, KeyError):
            fits = False
        if not fits:
            raise InvalidValue("record", f"a damaged entry {RECORDED!r}", "train the model again")
        return division

    def to_record(self) -> JsonObject:
        """Return the entry of a model's record."""
        optional = ("source", "blocks", "drifting")
        entry = {name: each for name, each in asdict(self).items() if each or name not in optional}
        return {RECORDED: entry}

    def checked(self, y: Array, groups: NDArray[np.int64] | None) -> Self:
        """Return the division of rows with labels y and groups (n,), see `chosen`."""
        return replace(self, check=_check_of(self.chosen(y, groups)))

    def holding_groups_out(
        self, held: list[int], y: Array, groups: NDArray[np.int64] | None
    ) -> Self:
        """Return the division of rows with labels y and groups (n,), of which some are held out."""
        chosen = replace(self, held=held).chosen(y, groups)
        share = float(chosen.mean())
        return replace(self, held=held, share=share, check=_check_of(chosen))

    def chosen_again(self, y: Array, groups: NDArray[np.int64] | None) -> NDArray[np.bool_] | None:
        """Return which rows training held out, (n,); None if it did not divide these ones."""
        chosen = self.chosen(y, groups)
        return chosen if _check_of(chosen) == self.check else None

    def chosen(self, y: Array, groups: NDArray[np.int64] | None) -> NDArray[np.bool_]:
        """Return which rows are held out, (n,): some of the classes in y, all of `NO_CLASS`."""
        rows = y != NO_CLASS if y.ndim == 1 else np.ones(y.shape[0], np.bool_)
        of_rows = None if groups is None else groups[rows]
        held_out = ~rows
        if self.held:
            held_out[rows] = of_rows is not None and np.isin(of_rows, self.held)
        elif self.blocks == ENDS:
            held_out[rows] = ends_of(y[rows], self.share)
        else:
            of_rows = blocks_of(y[rows]) if self.blocks else of_rows
            held_out[rows] = held_out_rows(y[rows], self.share, self.seed, of_rows)
        return held_out

    def tested(self, X: Array, y: Array, names: Sequence[str], *, ordered: bool) -> Array:
        """Return points (n, D), with features of these names, as held-out ones are tested.

        - `ordered`: whether they are in the order of recording
        """
        if not self.drifting:
            return X
        known = {name: place for place, name in enumerate(names_at(range(X.shape[1]), names))}
        if absent := [name for name in self.drifting if name not in known]:
            raise lacking("the training file", f"column {absent[0]!r}", "read it as in training")
        columns = np.array([known[name] for name in self.drifting])
        return on_another_day(X, y, columns, self.seed, ordered=ordered)


def _check_of(chosen: NDArray[np.bool_]) -> int:
    return zlib.crc32(np.packbits(chosen).tobytes(), len(chosen))


def held_out_rows(
    y: Array, share: float, seed: int, groups: NDArray[np.int64] | None = None
) -> NDArray[np.bool_]:
    """Return which rows to hold out, (n,): about a share, never all rows of a class, maybe none.

    The labels y (n,), or label sets (n, L), and `groups` (n,) decide, with the seed. Without
    groups, the share of each class is held out; with groups, whole ones. Both parts have points of
    every class if possible; otherwise, classes are missing in the held-out rows.
    """
    units = np.arange(y.shape[0]) if groups is None else np.unique(groups, return_inverse=True)[1]
    labels = y if y.ndim == 1 else np.zeros(y.shape[0], np.int64)
    generator = np.random.default_rng(seed)
    if groups is None:
        parts = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        return _drawn(parts, share, generator, least=0)
    has = np.zeros((int(units.max()) + 1, int(labels.max()) + 1), np.int64)  # rows of each class
    np.add.at(has, (units, labels), 1)
    # Groups that have one class each, such as takes, are drawn for each class.
    usual = has.argmax(axis=1)
    of_classes = [np.flatnonzero(usual == label) for label in np.unique(usual)]
    in_one_group = int(((has > 0).sum(axis=0) == 1).sum())
    best, least = np.zeros(len(has), np.bool_), [1, 0, 0]
    for parts in ([np.arange(len(has))], of_classes):
        for _ in range(_MOST_DRAWS):
            chosen = _drawn(parts, share, generator, least=1)
            of_parts = has[~chosen].sum(axis=0), has[chosen].sum(axis=0)
            missing = [int((part == 0).sum()) for part in of_parts]
            too_many = int(of_parts[1].sum()) > 2 * max(share, 1 / len(has)) * len(labels)
            if (found := [*missing, int(too_many)]) < least and chosen.any():
                best, least = chosen, found
            if least <= [0, in_one_group, 0]:
                return best[units]
    return best[units]


def _drawn(
    parts: Iterable[NDArray[np.int64]], share: float, generator: np.random.Generator, *, least: int
) -> NDArray[np.bool_]:
    """Return which of all members of some parts are drawn: the share of each part, but not all."""
    parts = list(parts)
    chosen = np.zeros(sum(map(len, parts)), np.bool_)
    for members in parts:
        count = min(max(round(share * len(members)), least), len(members) - 1)
        chosen[generator.permutation(members)[: max(count, 0)]] = True
    return chosen
