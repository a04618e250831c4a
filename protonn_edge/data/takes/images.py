"""Folders of images: PNG, JPEG, BMP and WebP files, in a folder for each class, as gray pixels.

Pillow, an optional extra, reads them. Files may come from anyone, so the size in a header is
checked before pixels are unpacked, and links out of the folder are refused.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Sequence
from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.options import TableOptions
from protonn_edge.data.points.dataset import Float32, Table, check_table_size
from protonn_edge.data.tables.coded import Coded
from protonn_edge.data.takes.take_names import unsaid_names
from protonn_edge.data.takes.take_notices import unread
from protonn_edge.data.takes.takes import TABLES, Take, takes_in
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError, beyond, shortened
from protonn_edge.system.files import read_file
from protonn_edge.system.lazy import require

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".webp")
_FILE_LIMIT_BYTES = 64 * 2**20
_MOST_PIXELS = 64 * 10**6
_ROWS_AT_ONCE = 512
_LONGEST_SIDE = 4_096  # pixels

Shape = tuple[int, int]  # height and width


def has_images(folder: Path) -> bool:
    """Return whether a folder contains folders of images, of classes or parts, and no tables."""
    inside = (path for pattern in ("*", "*/*", "*/*/*") for path in folder.glob(pattern))
    no_tables = folder.is_dir() and not (folder / "train.txt").is_file()
    return no_tables and any(path.suffix.lower() in IMAGES for path in inside)


def image_names(folder: Path, options: TableOptions) -> list[str]:
    """Return the names of the images to test a model with, in their order in the folder."""
    takes = takes_in(folder, options.name, IMAGES)
    tested = [take for take in takes if take.tested] or takes
    return [take.path.relative_to(folder).as_posix() for take in tested]


def read_images(
    folder: Path, options: TableOptions, *, labelled: bool = True
) -> tuple[Table, Table | None]:
    """Return a folder's images: training points and, if the folder has two parts, test points.

    - `labelled`: whether the classes are needed, so a table that lists them must be refused

    Pixels are 0 (black) to 255. Images are scaled to the options' size; without one, all must have
    the size of the first.
    """
    require("PIL")
    takes = takes_in(folder, options.name, IMAGES)
    if labelled and options.name is None and options.target != "value":
        _refuse_listed(folder, takes)
    shape = None if options.size is None else _checked(options.size)
    first = read_gray(takes[0].path, folder, shape)
    check_table_size(str(folder), len(takes), first.size)
    X = np.empty((len(takes), first.size), np.float32)
    for row, take in enumerate(takes):
        image = read_gray(take.path, folder, shape)
        if image.shape != first.shape:
            here, there = ("x".join(map(str, each.shape)) for each in (image, first))
            raise InputError(
                f"{take.path} has {here} pixels, but {takes[0].path} has {there}; scale all images "
                "to the same size, for example with --size 16x16"
            )
        X[row] = image.ravel()
    tested = np.array([take.tested for take in takes])

    def part(rows: NDArray[np.bool_]) -> Table:
        labels = Coded.of(take.label for take in compress(takes, rows))
        notices = list(unread(folder, takes, IMAGES))
        if options.name is None and len(takes) > 1:
            notices += unsaid_names(takes, labelled=False)
        shown = tuple(notices)
        return Table(
            str(folder), X[rows], labels, point_shape=first.shape, pixels=True, notices=shown
        )

    if 0 < tested.sum() < len(takes):
        return part(~tested), part(tested)
    return part(np.ones_like(tested)), None


def _refuse_listed(folder: Path, takes: Sequence[Take]) -> None:
    """Refuse images that have a class each, if a table beside them seems to list their classes."""
    places = dict.fromkeys([folder, *(take.path.parent for take in takes)])
    tables = [path for place in places for path in place.iterdir() if path.suffix.lower() in TABLES]
    if tables and len({take.label for take in takes}) == len(takes) > 1:
        raise InputError(
            f"{folder}: each of the {len(takes):,} images has its own class, called like its file; "
            f"if {min(tables).name!r} lists their classes, which is not read, put the images of "
            "each class into a folder called like it"
        )


def _checked(size: object) -> Shape:
    """Return the height and the width of `TableOptions.size`."""
    match size:
        case (int(height), int(width)) if min(size) > 0 and max(size) <= _LONGEST_SIDE:
            return height, width
    raise InputError(
        f"--size is {shortened(repr(size))}; give a height and a width of 1 to "
        f"{_LONGEST_SIDE:,} pixels, such as 28x28"
    )


def _read(path: Path, folder: Path) -> bytes:
    # Unlike Path.resolve, realpath accepts circular links.
    if not Path(os.path.realpath(path)).is_relative_to(folder.resolve()):
        raise InputError(
            f"{path} is a link to a place outside {folder}; copy the file into the folder"
        )
    return read_file(path, limit_bytes=_FILE_LIMIT_BYTES)


def read_gray(path: Path, folder: Path, shape: Shape | None) -> Float32:
    """Return an image (height, width), upright, gray, on white, and scaled if a shape is given."""
    from PIL import Image, ImageOps

    content = io.BytesIO(_read(path, folder))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about sizes, which are checked here
            with Image.open(content, formats=("PNG", "JPEG", "BMP", "WEBP")) as opened:
                if opened.width * opened.height > _MOST_PIXELS:
                    raise beyond(
                        path,
                        f"{opened.width:,} x {opened.height:,} pixels",
                        _MOST_PIXELS,
                        "scale the image down",
                    )
                image = ImageOps.exif_transpose(opened)
        if image.mode.startswith("I"):  # 16 bits, which Pillow would clip
            values = np.asarray(image)
            values = np.where(values == image.info.get("transparency"), 0xFFFF, values)
            image = Image.fromarray((values >> 8).astype(np.uint8))
        if image.has_transparency_data:
            image = image.convert("RGBA")
            image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
        image = image.convert("L")
        pixels = np.asarray(image)
        return pixels.astype(np.float32) if shape is None else _scaled(pixels, shape)
    except InputError:
        raise
    except Exception as error:  # an untrusted file may cause any error
        reason = shortened(str(error).partition("<")[0].strip() or type(error).__name__, 80)
        raise InputError(
            f"{path} cannot be read as an image ({reason}); save the image again"
        ) from error


def _scaled(pixels: NDArray[np.uint8], shape: Shape) -> Float32:
    """Return the means of areas of pixels, rounded once, as a board computes them."""
    down, across = map(_covered, shape, pixels.shape)
    sums = np.zeros((shape[0], pixels.shape[1]))
    for start in range(0, len(pixels), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        sums += down[:, rows] @ pixels[rows].astype(np.float64)  # integers below 2**53
    area = pixels.size
    means: Float32 = ((2 * (sums @ across.T) + area) // (2 * area)).astype(np.float32)
    return means


def _covered(count: int, size: int) -> NDArray[np.float64]:
    """Return how much of each of `size` pixels `count` others cover, (count, size), in 1/count."""
    new, old = np.arange(count)[:, None] * size, np.arange(size) * count
    overlap: Array = np.minimum(new + size, old + count) - np.maximum(new, old)
    covered: NDArray[np.float64] = np.maximum(overlap, 0).astype(np.float64)
    return covered
