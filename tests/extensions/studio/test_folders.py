"""A folder as people have it: many classes, many takes, points, an unknown sensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from command_line import succeed
from extensions.studio.conftest import serving
from extensions.studio.shown import DESK, PHONE, SCHEMES, Shown, opened
from playwright.sync_api import Browser, expect

from protonn_edge.extensions.studio.actions import FIELDS

ADXL345 = "# protonn-edge recording 1; sensor: adxl345; rate: 50 Hz; units: ax ay az 1/256 g"
MPU6050 = (
    "# protonn-edge recording 1; sensor: mpu6050; rate: 100 Hz; "
    "units: ax ay az 1/8192 g; gx gy gz 1/65.5 deg/s"
)
TWELVE = (
    "rest", "wave", "circle", "knock", "tap", "shake", "twist", "push", "pull", "lift", "drop",
    "a motion with a name that is long",
)  # fmt: skip


MANY_TAKES = 9  # of a class, more than fit side by side


def write_recording(
    path: Path,
    header: str,
    channels: Sequence[str],
    rate: float,
    classes: Sequence[str],
    takes: int = 3,
) -> None:
    """Write some takes of each class, each class with a motion of its own."""
    rng, rows, begin = np.random.default_rng(0), list[str](), 0.0
    t = np.arange(round(1.5 * rate)) / rate
    for take in range(takes):
        person = ("anna", "bob", "carla")[take % 3]
        for number, label in enumerate(classes):
            waves = [np.sin((3 + number + at) * t) for at in range(len(channels))]
            values = np.stack(waves, axis=1) * 100 * (1 + number % 4)
            values = np.rint(values + rng.normal(0, 5, values.shape)).astype(int)
            rows += [
                f"{label},{person},{begin + at / rate:.6f},{','.join(map(str, row))}"
                for at, row in enumerate(values.tolist())
            ]
            begin += 4
    names = ",".join(["label", "session", "time", *channels])
    path.write_text("\n".join([header, names, *rows, ""]))


@pytest.fixture(scope="module")
def shown(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """Open the page of a folder with recordings, points, and a model of twelve classes."""
    folder = tmp_path_factory.mktemp("studio") / "mixed"
    folder.mkdir()
    three, two = ["ax", "ay", "az"], ("rest", "wave")
    write_recording(folder / "recording.csv", ADXL345, three, 50, two, MANY_TAKES)
    six = ["ax", "ay", "az", "gx", "gy", "gz"]
    write_recording(folder / "twelve.csv", MPU6050, six, 100, TWELVE)
    unknown = ADXL345.replace("adxl345", "adxl345-of-mine")
    write_recording(folder / "unknown.csv", unknown, three, 50, two)
    rng = np.random.default_rng(0)
    np.savez(folder / "points.npz", X=rng.normal(size=(60, 4)), y=np.arange(60) % 3)
    y = np.arange(240) % len(TWELVE)
    X = rng.normal(size=(240, 4)) + y[:, None]
    np.savez(folder / "twelve.npz", X=X, y=y, class_names=np.array(TWELVE))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        succeed("train", "twelve.npz", "-o", "linear.npz", "--classifier", "linear")
        with serving(folder) as site, opened(browser, site.server.url, folder) as shown:
            yield shown
            assert shown.complaints == []
            assert shown.elsewhere == []


@pytest.mark.parametrize("file", ["twelve.csv", "points.npz", "recording.csv"])
def test_data_of_other_kinds_have_a_screen_without_barriers(shown: Shown, file: str) -> None:
    page = shown.page
    shown.go("data")
    page.locator("#data-file").select_option(file)
    expect(page.locator("#data-file")).to_have_value(file)
    for stage in ("data", "train"):
        shown.go(stage)
        if file == "twelve.csv":
            place = "#rows > li h2" if stage == "data" else "#preview li"
            expect(page.locator(place)).to_have_count(len(TWELVE))
        for size in (PHONE, DESK):
            page.set_viewport_size(size)
            for scheme in SCHEMES:
                page.emulate_media(color_scheme=scheme)
                assert (stage, size, scheme, shown.barred()) == (stage, size, scheme, [])


def test_twelve_classes_are_answered_on_a_phone(shown: Shown) -> None:
    page = shown.page
    shown.go("data")
    page.locator("#data-file").select_option("twelve.npz")
    expect(page.locator("#data-file")).to_have_value("twelve.npz")
    shown.go("train")
    expect(page.locator("#matrix tbody tr")).to_have_count(len(TWELVE))
    for size in (PHONE, DESK):
        page.set_viewport_size(size)
        assert (size, shown.barred()) == (size, [])


@pytest.mark.parametrize(
    ("file", "action"), [("recording.csv", "build"), ("unknown.csv", "build-points")]
)
def test_a_model_is_built_for_the_sensor_if_it_is_known(
    shown: Shown, file: str, action: str
) -> None:
    page = shown.page
    shown.go("data")
    page.locator("#data-file").select_option(file)
    page.wait_for_function("(name) => studio.data.name === name", arg=file)
    assert page.evaluate("studio.stages.board.step('linear.npz')[0]") == action
    wired = page.locator("#wires:not([hidden])")  # which are shown beside what was built
    expect(wired).to_be_attached(attached=action == "build")


@pytest.mark.parametrize(
    "folder", ["gestures", "\u0436\u0435\u0441\u0442", "_x", "a <b>/..", "x" * 300]
)
def test_a_folder_of_any_name_has_a_library_that_can_be_written(shown: Shown, folder: str) -> None:
    name = shown.page.evaluate(
        "(folder) => { studio.state.folder = folder; return studio.stages.board.zip; }", folder
    )
    assert FIELDS["zip"](name, ()) == name


def test_a_take_that_is_dragged_past_the_rows_is_no_file(shown: Shown) -> None:
    drop = "dispatchEvent(new DragEvent('drop', { dataTransfer: new DataTransfer() }))"
    shown.page.evaluate(drop)
    shown.page.evaluate("studio.renew()")
    expect(shown.page.locator(".alert .notice")).to_have_count(0)
