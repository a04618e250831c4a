"""The sheet: what a drop is, what was found in it, what it asks, and what would be kept of it.

Nothing is kept before its one button is pressed. The readers of the package decide what files are;
questions have answers already, and ``picked`` has those that were changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from protonn_edge.data.takes.images import read_gray
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.studio.actions import names_in
from protonn_edge.extensions.studio.dropped import NAMES, DroppedFile
from protonn_edge.extensions.studio.facts import SOUND_HZ, facts_of
from protonn_edge.extensions.studio.folder import kind_of
from protonn_edge.extensions.studio.incoming import Drop
from protonn_edge.extensions.studio.look_tables import look_at_tables
from protonn_edge.extensions.studio.sheet import (
    Kept,
    Question,
    Sheet,
    grouped,
    plain_name,
)
from protonn_edge.extensions.studio.views import thinned
from protonn_edge.system.errors import InputError, counted
from protonn_edge.system.schema import JsonObject

_UNO_SIDE, _SMALL_SIDE, _LARGE_SIDE = 28, 16, 96  # pixels of images
_SIZES_OF = 60  # pictures, whose sizes stand for all
_QUESTIONS = 2  # at most
_PAIRS = 60  # of the least and the most of a drawn wave
_OWN_WORDS = {
    "recording": "a recording",
    "points": "points to train with",
    "model": "a model",
    "sensor": "the description of a sensor",
    "samples": "samples that a sensor can play",
    "results": "results of a measurement",
}


def look(drop: Drop, picked: Mapping[str, str]) -> Sheet:
    """Return the sheet of a drop, with the answers that were picked."""
    left = list(drop.left)
    if drop.is_project and drop.files:
        return _with_left(_of_project(drop), left, drop)
    kinds = Counter(each.kind for each in drop.files if each.kind != "own")
    own = [each for each in drop.files if each.kind == "own" or _is_own(each)]
    if own and len(own) == len(drop.files):
        return _with_left(_of_own(own), left, drop)
    ranked = sorted(kinds, key=lambda kind: (-kinds[kind], [*NAMES].index(kind)))
    if not ranked:
        return _nothing(left, drop)
    files = [each for each in drop.files if each.kind == ranked[0]]
    left += [
        (each.name, f"is {NAMES.get(each.kind, 'a file of another kind')}; the others are not")
        for each in drop.files
        if each.kind != ranked[0]
    ]
    if ranked[0] == "text":
        sheet = look_at_tables(files, picked, left)
    else:
        sheet = (_of_pictures if ranked[0] == "picture" else _of_sounds)(files, picked)
    sheet.questions = sheet.questions[:_QUESTIONS]
    sheet.notes += [f"{each.name} is {each.really} inside." for each in files if each.really][:1]
    return _with_left(sheet, [*left, *sheet.left], drop)


def _with_left(sheet: Sheet, left: list[tuple[str, str]], drop: Drop) -> Sheet:
    packed = [f"From {drop.packed_in[0]}."] if len(drop.packed_in) == 1 else []
    packed = packed or [f"From {len(drop.packed_in)} ZIPs."] * bool(drop.packed_in)
    return replace(sheet, left=left, lead=" ".join([sheet.lead, *packed]))


def _nothing(left: Sequence[tuple[str, str]], drop: Drop) -> Sheet:
    """Return a sheet that keeps nothing, and says why."""
    what, was = "Only hidden files are in it", "Nothing was added; your folder is as it was."
    if not left:
        what = what if drop.hidden else "This folder is empty"
    elif len(left) == 1:
        name, (why, _, advice) = left[0][0], left[0][1].partition(". ")
        what, was = f"{name} {why}", f"{advice}. {was}" if advice else was
    else:
        what = f"None of these {len(left):,} files can be used"
    return Sheet("nothing", what, was, left=[] if len(left) == 1 else list(left))


def _of_project(drop: Drop) -> Sheet:
    """Return the sheet of a project, which becomes what an empty folder has."""
    kept = list[Kept]()
    for each in drop.files:
        *above, name = PurePosixPath(each.name).parts
        stem = plain_name(PurePosixPath(name).stem)
        kept.append(Kept("/".join([*map(plain_name, above), f"{stem}{each.ending}"]), each.path))
    title = f"A project of the studio: {PurePosixPath(drop.packed_in[0]).stem}"
    lead = f"{counted(len(kept), 'file')} of data and models; firmware is built again here."
    if names_in(drop.folder.parent):
        lead = "It opens in a folder without other files: start the studio in a new one."
        return Sheet("project", title, lead)
    return Sheet("project", title, lead, "Open it here", kept=kept)


def _is_own(file: DroppedFile) -> bool:
    """Whether the studio or a command has written a text file."""
    return file.kind == "text" and kind_of(file.path) in ("recording", "samples", "results")


def _of_own(files: Sequence[DroppedFile]) -> Sheet:
    """Return the sheet of files that the package itself reads and writes."""
    said, left, good = list[str](), list[tuple[str, str]](), list[DroppedFile]()
    for each in files:
        kind = kind_of(each.path)
        error = _error_of(each.path, kind)
        if error or not kind:
            text = error.replace(str(each.path), "it").replace(each.path.name, "it")
            text = text.partition(";")[0]
            left.append((each.name, f"cannot be used: {text or 'its content is not known'}"))
        else:
            good.append(each)
            said.append(f"{each.base} is {_OWN_WORDS.get(kind, 'a file of the studio')}.")
    if not good:
        nothing = "Nothing was added; your folder is as it was."
        title = f"{left[0][0]} {left[0][1]}" if len(left) == 1 else "None of these can be used"
        return Sheet("nothing", title, nothing, left=left if len(left) > 1 else [])
    kept = [Kept(plain_name(each.base), each.path) for each in good]
    title = good[0].base if len(good) == 1 else f"{len(good):,} files of the studio"
    primary = f"Add {'this file' if len(good) == 1 else counted(len(good), 'file')}"
    return Sheet("own", title, " ".join(said[:4]), primary, kept=kept, left=left)


def _error_of(path: Path, kind: str) -> str:
    """Return why a file that the package reads cannot be used; empty if it can."""
    if kind != "sensor":
        return str(facts_of(path, kind).get("error", ""))
    try:
        sensor_kind(str(path))
    except InputError as error:
        return str(error)
    return ""


def _of_pictures(files: Sequence[DroppedFile], picked: Mapping[str, str]) -> Sheet:
    step = max(1, len(files) // _SIZES_OF)
    shapes = [read_gray(each.path, each.path.parent, None).shape for each in files[::step]]
    sizes = {*shapes}
    same, (height, width) = len(sizes) == 1, shapes[0]
    is_large = any(max(shape) > _UNO_SIDE for shape in shapes)
    size = picked.get("size") or (f"{_UNO_SIDE}x{_UNO_SIDE}" if is_large or not same else "")
    options = [
        (f"{_UNO_SIDE}x{_UNO_SIDE}", f"{_UNO_SIDE} x {_UNO_SIDE} (fits an Uno)"),
        (f"{_SMALL_SIDE}x{_SMALL_SIDE}", f"{_SMALL_SIDE} x {_SMALL_SIDE} (small and fast)"),
    ]
    if same and max(height, width) <= _LARGE_SIDE:
        own = f"{width} x {height} (as they are; needs a larger board)"
        options.append((f"{height}x{width}", own))
    shape = tuple(map(int, size.split("x"))) if size in dict(options) else (height, width)

    def drawn(file: DroppedFile) -> JsonObject:
        pixels = read_gray(file.path, file.path.parent, (shape[0], shape[1]))
        return {"image": pixels.astype(int).ravel().tolist(), "width": shape[1]}

    what = f"{width} x {height} pixels" if same else f"of {len(sizes)} sizes, scaled to one"
    sees = f"An Uno has room for {_UNO_SIDE} x {_UNO_SIDE}, in grey: below is what it will see."
    lead = f"Each is {what}. {sees if is_large else 'Below is what the board will see.'}"
    sheet = grouped("pictures", "picture", files, picked, lead, drawn)
    if is_large or not same:
        sheet.questions.append(Question("size", "Read them at", options, size))
    sheet.chosen["size"] = size
    return sheet


def _of_sounds(files: Sequence[DroppedFile], picked: Mapping[str, str]) -> Sheet:
    waves = [each.wave for each in files]
    rates = sorted({round(each.rate) for each in waves})
    times = [len(each.values) / each.rate for each in waves]
    low, high = (f"{each:.1f}" for each in (min(times), max(times)))
    spoken = [f"{rate:,}" for rate in rates]
    said = " and ".join([", ".join(spoken[:-1]), spoken[-1]] if spoken[:-1] else spoken)
    long = f"{low} s each" if low == high else f"{low} to {high} s"
    slower = f" An Uno hears {SOUND_HZ:,.0f} a second, so they are read at {SOUND_HZ:,.0f}."
    lead = f"{said} samples a second, {long}.{slower * (rates[-1] > SOUND_HZ)}"

    def drawn(file: DroppedFile) -> JsonObject:
        seconds = len(file.wave.values) / file.wave.rate
        return {"curves": [thinned(file.wave.values[:, 0], _PAIRS).tolist()], "seconds": seconds}

    return grouped("sounds", "sound", files, picked, lead, drawn)
