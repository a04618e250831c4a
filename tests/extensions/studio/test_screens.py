"""Laws that hold for each screen, in a folder as people have it, with data of all kinds."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from avr_tools import EMULATED_AVR, skip_without
from command_line import succeed
from extensions.studio.conftest import serving
from extensions.studio.shown import STAGES, Shown, opened
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

TEACHES = """() => {
    const stage = studio.stages.try;
    stage.chosenFrom = "teaching";
    const classes = ["wave", "rest"];
    studio.state.stream = { running: true, rate: 50, kind: "teaching", classes, channels: ["ax"] };
    stage.show();
}"""
"""Shows a board that is taught."""

SCREENS = (
    *(("recording.csv", stage, ".act .primary") for stage in STAGES),
    ("recording.csv", "data", ".editing"),
    ("many.csv", "data", f".strip-of li:nth-child({MANY_TAKES})"),
    ("twelve.csv", "data", f"#rows > li:nth-child({len(TWELVE)}) h2"),
    ("twelve.npz", "train", f"#matrix tbody tr:nth-child({len(TWELVE)})"),
    ("points.npz", "data", "#whole dt"),
    ("points.npz", "train", "#learning select"),
    ("doubt.csv", "data", "#columns .doubt"),
    ("house.csv", "train", ".values circle"),
)
"""Data, a stage, and what shall be seen there."""


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
def shown(
    browser: Browser, whole: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shown]:
    """Open the page of a folder in which everything was made, with other data beside it."""
    skip_without(*EMULATED_AVR)
    folder = tmp_path_factory.mktemp("studio") / "mixed"
    shutil.copytree(whole, folder)
    shutil.copytree(folder / "house", folder, dirs_exist_ok=True)
    three, two = ["ax", "ay", "az"], ("rest", "wave")
    write_recording(folder / "many.csv", ADXL345, three, 50, two, MANY_TAKES)
    six = ["ax", "ay", "az", "gx", "gy", "gz"]
    write_recording(folder / "twelve.csv", MPU6050, six, 100, TWELVE)
    unknown = ADXL345.replace("adxl345", "adxl345-of-mine")
    write_recording(folder / "unknown.csv", unknown, three, 50, two)
    rng = np.random.default_rng(0)
    rows = [f"{i % 24},{rng.normal():.2f},{'xy'[i % 2]}" for i in range(120)]
    (folder / "doubt.csv").write_text("\n".join(["hour,wind,label", *rows, ""]))
    np.savez(folder / "points.npz", X=rng.normal(size=(60, 4)), y=np.arange(60) % 3)
    y = np.arange(240) % len(TWELVE)
    X = rng.normal(size=(240, 4)) + y[:, None]
    np.savez(folder / "twelve.npz", X=X, y=y, class_names=np.array(TWELVE))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        succeed("train", "twelve.npz", "-o", "twelve-m.npz", "--classifier", "linear")
        with serving(folder) as site, opened(browser, site.server.url, folder) as shown:
            yield shown
            assert shown.complaints == []
            assert shown.elsewhere == []


def choose(shown: Shown, data: str) -> None:
    """Choose data of the folder."""
    shown.go("data")
    shown.page.locator("#data-file").select_option(data)
    shown.page.wait_for_function("(name) => studio.data.name === name", arg=data)


@pytest.mark.parametrize(("data", "stage", "seen"), SCREENS)
def test_each_screen_is_readable_named_and_within_the_window(
    shown: Shown, data: str, stage: str, seen: str
) -> None:
    choose(shown, data)
    shown.go(stage)
    if seen == ".editing":
        shown.page.locator("#rows .thumb").first.click()
    expect(shown.page.locator(f"#stage-{stage}").locator(seen).first).to_be_visible()
    assert shown.barred() == []
    shown.page.keyboard.press("Escape")


@pytest.mark.parametrize(
    ("file", "action"), [("many.csv", "build"), ("unknown.csv", "build-points")]
)
def test_a_model_is_built_for_the_sensor_if_it_is_known(
    shown: Shown, file: str, action: str
) -> None:
    choose(shown, file)
    assert shown.page.evaluate("studio.stages.board.step('linear.npz')[0]") == action
    wired = shown.page.locator("#wires:not([hidden])")  # which are shown beside what was built
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


def test_what_a_board_forgets_is_kept_by_one_press(shown: Shown) -> None:
    page, pending = shown.page, "studio.stages.try.regretted !== null"
    choose(shown, "recording.csv")
    shown.go("try")
    page.evaluate(TEACHES)
    page.get_by_role("button", name="Forget rest").click()
    alert = page.locator("#stage-try .alert")
    expect(alert).to_contain_text("The board forgets the examples of rest")
    assert page.evaluate(pending)
    page.get_by_role("button", name="Keep the examples of rest").click()
    expect(alert).to_be_empty()
    assert not page.evaluate(pending)
    page.get_by_role("button", name="Forget rest").click()
    with page.expect_request("**/do/order") as order:  # at the latest when another is forgotten
        page.get_by_role("button", name="Forget wave").click()
    asked = order.value.post_data_json
    assert (asked["what"], asked["label"]) == ("forget", 1)
    page.wait_for_function("() => document.querySelector('#stage-try .notice.error')")
    page.reload()
    shown.complaints.clear()  # since there is no board
