"""Notices about the files of a folder of takes: which were not read, and which are copies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from protonn_edge.data.naming import Notice, listed
from protonn_edge.data.points.division import digest_of
from protonn_edge.data.roles.part_names import FOLD, VALIDATION, PartName, names_of_parts
from protonn_edge.data.takes.takes import SAMPLES, Take, order

# Folders that phyphox adds beside the samples of an export, and macOS to any archive.
_OF_APP, _OF_ARCHIVE = "meta", "__MACOSX"


def unread(
    folder: Path,
    takes: Sequence[Take],
    suffixes: Sequence[str] = SAMPLES,
    empty: Sequence[str] = (),
) -> Iterator[Notice]:
    """Yield notices about files of a folder that are not read, or have no samples."""
    read = {path for take in takes for path in (*take.files, take.labels_file) if path is not None}
    parents = {parent for path in read for parent in path.parents}
    inside = sorted(parent for parent in parents if parent.is_relative_to(folder))
    entries = sorted((path for parent in inside for path in parent.iterdir()), key=order)
    beside = {path.parent for path in read}
    # folders that programs add, of an archive anywhere, and of an app beside samples
    added = {path for path in entries if path.name == _OF_ARCHIVE}
    added |= {path for path in entries if path.name == _OF_APP and path.parent in beside}
    others = [
        path
        for path in entries
        if not path.name.startswith(".") and path not in read | parents | added
    ]
    names = {path.relative_to(folder).as_posix(): path for path in others}
    samples = [name for name, path in names.items() if path.suffix.lower() in suffixes]
    files = [name for name, path in names.items() if not path.is_dir() and name not in samples]
    if files:
        which = f"{', '.join(suffixes[:-1])} nor {suffixes[-1]}"
        yield Notice("files", f"files that are neither {which} were not read: {listed(files)}")
    parts = {take.stem.relative_to(folder).parts[0]: take.tested for take in takes}
    if names_of_parts(kinds := [PartName.of(part) for part in parts]):
        for use, tested in (("testing", True), ("training", False)):
            pairs = zip(parts.items(), kinds, strict=True)
            odd = [
                part
                for (part, is_tested), name in pairs
                if is_tested == tested and name.kind in (VALIDATION, FOLD)
            ]
            if odd:
                yield Notice("part", f"{listed(odd)} {'are' if odd[1:] else 'is'} used for {use}")
    if samples:
        yield Notice("files", f"other files beside these were not read: {listed(samples)}")
    if without := [*(name for name, path in names.items() if path.is_dir()), *empty]:
        text = f"left out because they have no labelled samples: {listed(without)}"
        yield Notice("no_samples", text, warning=True)


def repeated(takes: Sequence[Take], *, labelled: bool) -> Iterator[Notice]:
    """Yield a warning about takes whose files have the same content.

    - `labelled`: whether files state the classes of their samples
    """
    of_size: dict[tuple[int, ...], list[Take]] = {}
    for take in takes:
        size = tuple(file.stat().st_size for file in take.files)
        of_size.setdefault(size, []).append(take)
    for some in of_size.values():
        alike: dict[tuple[str, ...], list[Take]] = {}
        for take in some if some[1:] else ():
            alike.setdefault(tuple(map(digest_of, take.files)), []).append(take)
        for one, other, *_ in (each for each in alike.values() if each[1:]):
            text = f"the takes {listed([one.name, other.name])} have the same content"
            if one.tested != other.tested:
                text += ", but one is for testing; delete one, or the accuracy is too high"
            elif labelled or one.label == other.label:
                text += "; if one is a copy, delete it, or it may be in training and in testing"
            else:
                text += f", but are of classes {listed([one.label, other.label])}; delete one"
            yield Notice("repeated", text, warning=True)
            return
