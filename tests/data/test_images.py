"""Folders of images are read as points of gray pixels, wherever a data set is taken."""

from __future__ import annotations

import csv
import struct
import zlib
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import assert_one_sentence, run, run_json
from PIL import Image
from refusals import refused_by, refuses

from protonn_edge import load_dataset, load_model
from protonn_edge.system.errors import InputError

pytestmark = pytest.mark.usefixtures("python_words")

SHADES = {"dark": 40, "light": 220}


def folder_of(path: Path, count: int = 12, side: int = 8) -> Path:
    """Write noisy images of two classes, as PNG and JPEG."""
    generator = np.random.default_rng(0)
    for label, shade in SHADES.items():
        (path / label).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            noise = generator.integers(-20, 20, (side, side))
            ending = "jpg" if number % 3 == 0 else "png"
            picture = Image.fromarray((shade + noise).astype(np.uint8))
            picture.save(path / label / f"{number}.{ending}")
    return path


def test_photographs_are_turned_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # a quarter turn
    image = Image.fromarray(np.array([[10, 20, 30]], dtype=np.uint8))
    Image.new("L", (1, 3)).save(tmp_path / "b.png")
    image.save(tmp_path / "a.png", exif=exif)
    read = load_dataset(tmp_path)
    assert read.point_shape == (3, 1)
    assert read.X_train[0].tolist() == [10, 20, 30]


def test_a_line_in_few_images_is_no_sign_of_missing_values(tmp_path: Path) -> None:
    paper = np.random.default_rng(0).integers(210, 250, (40, 8, 8)).astype(np.uint8)
    for number, pixels in enumerate(paper):
        folder = tmp_path / "ab"[number % 2]
        folder.mkdir(exist_ok=True)
        pixels[number % 8] = 30
        Image.fromarray(pixels).save(folder / f"{number}.png")
    assert [each.text for each in load_dataset(tmp_path).notices] == []


def test_a_model_is_trained_and_used_without_the_size_again(tmp_path: Path) -> None:
    images, model, out = folder_of(tmp_path / "images"), tmp_path / "m.npz", tmp_path / "out.csv"
    trained = run_json("train", images, "-o", model, "--size", "4x4", "--epochs", 2)
    assert load_model(model).record["settings"]["image_shape"] == [4, 4]
    assert trained["n"] == run_json("verify", model, images)["n"] == 4
    predicted = run_json("predict", model, images, "-o", out)
    assert (predicted["n"], predicted["accuracy"]) == (4, trained["accuracy"] == 1)
    with out.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["file"].partition("/")[0] for row in rows] == predicted["predicted"]
    (images / "light" / "1.png").rename(images / "light" / "another.png")
    assert run_json("verify", model, images)["n"] == 24  # it is another folder now
    assert run_json("data", images, "--size", "4x4")["n_train"] == 24


# --- what is refused ------------------------------------------------------------------------------


def png_of(width: int, height: int, data: bytes = b"") -> bytes:
    """Return a PNG file with a header of any size, and few pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    content = b"\x89PNG\r\n\x1a\n"
    for name, chunk in ((b"IHDR", header), (b"IDAT", zlib.compress(data)), (b"IEND", b"")):
        check = zlib.crc32(name + chunk)
        content += struct.pack(">I", len(chunk)) + name + chunk + struct.pack(">I", check)
    return content


def whole_png() -> bytes:
    pixels = np.random.default_rng(0).integers(0, 256, (8, 9)).astype(np.uint8)
    pixels[:, 0] = 0  # the filter of each row
    return png_of(8, 8, pixels.tobytes())


HOSTILE = {
    "a bomb": (png_of(60_000, 60_000), "cannot be read as "),
    "a large one": (png_of(9_000, 9_000), "has 9,000 x 9,000 pixels, but the limit is 64,000,000"),
    "truncated": (whole_png()[:90], "cannot be read as "),
    "text": (b"x" * 100, "cannot be read as "),
    "nothing": (b"", "empty"),
    "another kind": (b"GIF89a" + bytes(40), "cannot be read as "),
    "half a bitmap": (b"BM" + bytes(20), "cannot be read as "),
    "half a WebP": (b"RIFF\xff\0\0\0WEBPVP8 " + bytes(20), "cannot be read as "),
    "another size": (png_of(1, 1, b"\0\0"), "has 1x1 pixels"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_images_are_one_sentence(tmp_path: Path, name: str) -> None:
    content, complaint = HOSTILE[name]
    folder_of(tmp_path)
    (tmp_path / "light" / "9.png").write_bytes(content)
    assert_one_sentence(run("data", tmp_path), "9.png", complaint)


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    images = folder_of(tmp_path / "images")
    (images / "light" / "1.png").rename(tmp_path / "secret.png")
    (images / "light" / "1.png").symlink_to(tmp_path / "secret.png")
    assert_one_sentence(run("data", images), "is a link to a place outside")


@pytest.mark.parametrize("size", [(28,), (0, 4), (4, 5_000), "28x28", (2.0, 2.0), (True, -1)])
def test_a_size_must_be_a_height_and_a_width(tmp_path: Path, size: Any) -> None:
    with pytest.raises(InputError, match="give a height and a width") as caught:
        load_dataset(folder_of(tmp_path), size=size)
    assert str(caught.value).startswith("size is ")


def test_too_many_pixels_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("protonn_edge.data.points.dataset.TABLE_LIMIT_BYTES", 24 * 64 * 4 - 1)
    with refused_by("data.points.dataset"):
        load_dataset(folder_of(tmp_path))


def test_without_pillow_a_sentence_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = util.find_spec
    monkeypatch.setattr(
        "protonn_edge.system.lazy.find_spec", lambda name: None if name == "PIL" else found(name)
    )
    refuses(run("data", folder_of(tmp_path)), "system.lazy")
