"""Keep what a sheet shows in the folder: in one step, all of it or nothing, and over no file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path, PurePosixPath

from protonn_edge.extensions.studio.sheet import Kept, Sheet
from protonn_edge.system.errors import InputError, cannot_write, counted
from protonn_edge.system.schema import JsonObject

_SAME_RATE = 0.01


@dataclass(frozen=True)
class Beside:
    """The data in use, beside which a drop is kept, or to which it is added."""

    name: str
    facts: JsonObject

    def takes_in(self, sheet: Sheet) -> bool:
        """Whether what a sheet shows is of the same kind, channels, unit and rate."""
        kind, sound = self.facts.get("kind"), ["microphone"]
        if sheet.kind == "pictures":
            return kind == "images"
        if sheet.kind == "sounds":
            return kind == "takes" and self.facts.get("sensors") == sound
        if sheet.kind != "takes" or kind != "takes" or self.facts.get("sensors") == sound:
            return False
        own, rate = self.facts.get("rate") or 0.0, sheet.facts["rate"]
        same = self.facts.get("channels") == sheet.facts["channels"]
        unit = "".join({*sheet.facts["units"]} if len({*sheet.facts["units"]}) == 1 else ())
        return same and self.facts.get("units") == unit and abs(own - rate) <= _SAME_RATE * rate

    def about(self, sheet: Sheet) -> str:
        """Return what becomes of the data in use."""
        if sheet.kind in ("nothing", "own", "project") or not self.name:
            return ""
        if self.takes_in(sheet):
            classes: Mapping[str, int] = self.facts.get("classes") or {}
            more = [one["name"] for one in sheet.classes if one["name"] in classes]
            have = f"; {', '.join(more[:3])} {'has' if len(more) == 1 else 'have'} more then"
            what = counted(sum(classes.values()), sheet.unit)
            return f"They are added to the {what} in {self.name}{have * bool(more)}."
        if sheet.kind == "takes" and self.facts.get("kind") == "takes" and self.facts.get("rate"):
            own, new = (_in_unit(each) for each in (self.facts, sheet.facts))
            return (
                f"The takes in {self.name} have {own}, these have {new}. They are kept beside it, "
                "as data of their own."
            )
        are = "They are" if sheet.classes else "It is"
        return f"{are} kept beside {self.name}, which stays as it is."


def _in_unit(facts: JsonObject) -> str:
    units = facts["units"] if isinstance(facts["units"], str) else "".join({*facts["units"][:1]})
    channels = counted(len(facts["channels"]), "channel")
    return f"{channels}, {facts['rate']:,.4g} samples a second{f' in {units}' if units else ''}"


@dataclass(frozen=True)
class Addition:
    """Files that were kept together in a folder."""

    folder: Path
    name: str  # of the data in the folder
    files: Sequence[Path]
    stamps: Sequence[tuple[int, int, int]]

    def undo(self) -> None:
        """Remove these files; `InputError` if one of them has changed since."""
        if any(not path.is_file() for path in self.files) or self.stamps != _stamps(self.files):
            raise InputError(f"files in {self.name} have changed since; remove them yourself")
        for path in self.files:
            path.unlink()
            for above in takewhile(lambda each: each != self.folder, path.parents):
                with suppress(OSError):  # there are others in it
                    above.rmdir()


def _stamps(files: Sequence[Path]) -> list[tuple[int, int, int]]:
    return [(each.st_ino, each.st_mtime_ns, each.st_size) for each in (p.stat() for p in files)]


def keep(folder: Path, workshop: Path, sheet: Sheet, beside: Beside) -> Addition:
    """Keep the files of a sheet in a folder; `workshop` is on the same disk.

    Files get new names if their own ones are taken. Raises `InputError` if nothing could be kept.
    """
    below = [PurePosixPath(each.name).parts for each in sheet.kept]
    try:
        if sheet.kind == "project" or all(len(parts) == 1 for parts in below):
            return _added(folder, workshop, sheet.kept, 0)
        if beside.takes_in(sheet):
            return _added(folder / beside.name, workshop, sheet.kept, 1)
        return _whole(folder, workshop, sheet.kept)
    except OSError as error:
        raise cannot_write(folder, error) from error


def _added(target: Path, workshop: Path, kept: Sequence[Kept], above: int) -> Addition:
    """Add files to a folder, without some folders above their names."""
    done, made = list[tuple[Path, Path]](), list[Path]()
    taken = dict[str, int]()
    try:
        for each in kept:
            path = target.joinpath(*PurePosixPath(each.name).parts[above:])
            made += [one for one in (path.parent, path.parent.parent) if not one.exists()]
            path.parent.mkdir(parents=True, exist_ok=True)
            done.append((_made(workshop, each), _free(path, taken, always=each.number)))
            done[-1][0].rename(done[-1][1])
    except BaseException:
        for source, path in done:
            with suppress(OSError):  # the last one was not renamed
                path.rename(source)
        for empty in made:
            with suppress(OSError):
                empty.rmdir()
        raise
    files = [path for _, path in done]
    name = target.name if above else files[0].relative_to(target).parts[0]
    return Addition(target.parent if above else target, name, files, _stamps(files))


def _whole(folder: Path, workshop: Path, kept: Sequence[Kept]) -> Addition:
    """Keep a folder of data of its own, by one rename."""
    root = _free(folder / PurePosixPath(kept[0].name).parts[0])
    tree, taken = workshop / "tree", dict[str, int]()
    files = list[Path]()
    for each in kept:
        inside = PurePosixPath(*PurePosixPath(each.name).parts[1:])
        path = _free(tree / inside, taken, always=each.number)
        path.parent.mkdir(parents=True, exist_ok=True)
        _made(workshop, each).rename(path)
        files.append(root / path.relative_to(tree))
    if os.path.lexists(root):
        raise InputError(f"{root.name} was made by another program meanwhile; try again")
    tree.rename(root)
    return Addition(folder, root.name, files, _stamps(files))


def _made(workshop: Path, kept: Kept) -> Path:
    """Return the file with what is kept."""
    if isinstance(kept.content, Path):
        return kept.content
    number = sum(1 for _ in workshop.glob("made-*"))
    path = workshop / f"made-{number}"
    path.write_bytes(kept.content)
    return path


def _free(path: Path, taken: dict[str, int] | None = None, *, always: bool = False) -> Path:
    """Return a path that no file has yet, with a number at its end if need be, or always.

    `taken` has the last number of each name that was returned before.
    """
    taken = {} if taken is None else taken
    stem = re.sub(r"-\d+$", "", path.stem) if always else path.stem
    name = str(path.with_stem(stem)).lower()
    if not always and name not in taken and not os.path.lexists(path):
        taken[name] = 1
        return path
    for number in count(taken.get(name, 0 if always else 1) + 1):
        free = path.with_stem(f"{stem}-{number}")
        if str(free).lower() not in taken and not os.path.lexists(free):
            taken[name] = number
            taken.setdefault(str(free).lower(), 1)
            return free
    raise AssertionError  # numbers do not end
