"""Each idea can be removed with its folder: what remains works, and refuses it in one sentence."""

from __future__ import annotations

import compileall
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from programs import started

ROOT = Path(__file__).parents[2]
PARTS = ("protonn_edge", "templates", "firmware", "web", "platformio.ini")  # what is installed


class Room(NamedTuple):
    """An idea: what belongs to it, and the sentence that refuses it where it was removed."""

    paths: str  # below the project's folder, with its tests and its pages
    refused: str = ""  # a command that needs it
    sentence: str = ""  # a part of what the command says
    kind: str = "linear"  # of the model that still goes from data to a report
    reports: bool = True
    needed_by: tuple[str, ...] = ()  # rooms that build on it, and go with it


ROOMS = {
    "nothing": Room(""),
    "pytest": Room("protonn_edge/extensions/lab tests/extensions/lab/bench"),
    "meters": Room(
        "protonn_edge/extensions/lab/meters protonn_edge/extensions/lab/commands/meter_sketch.py templates/meters tests/extensions/lab/meters "
        "docs/power.md",
        "hil data.csv --project project --port COM1 --meter ppk2:COM2",
        "the meters are not installed",
    ),
    "rejection": Room(
        "protonn_edge/policy/rejection templates/c/policy/rejection.j2 "
        "templates/export/policy/rejection.md.j2 tests/policy/rejection docs/rejection.md",
        "train data.csv -o rejecting.npz --rejection 1%",
        "rejection is not installed",
    ),
    "confidence": Room(
        "protonn_edge/policy/confidence templates/c/policy/confidence.j2 "
        "templates/export/policy/confidence.md.j2 tests/policy/confidence"
    ),
    "values": Room(
        "protonn_edge/policy/value protonn_edge/kinds/protonn/value "
        "protonn_edge/kinds/linear/value protonn_edge/kinds/forest/value "
        "protonn_edge/kinds/dense/value "
        "templates/c/policy/value.j2 "
        "templates/export/policy/value.md.j2 templates/export/policy/value.ino.j2 "
        "templates/sensors/policy/value.j2 "
        "tests/policy/value docs/values.md",
        "train data.csv -o other.npz --target value",
        "numeric prediction is not installed",
    ),
    "sets of labels": Room(
        "protonn_edge/policy/label_sets templates/c/policy/label_sets.j2 "
        "templates/export/policy/label_sets.md.j2 templates/export/policy/label_sets.ino.j2 "
        "tests/policy/label_sets",
        "train sets.svm -o sets.npz",
        "label prediction is not installed",
    ),
    "pico": Room(
        "protonn_edge/extensions/pico firmware/rp2040 tests/extensions/pico docs/pico.md",
        "build model.npz -o pico --board pico",
        "there is no firmware for pico",
    ),
    "policies": Room(
        "protonn_edge/policy templates/c/policy templates/export/policy tests/policy "
        "docs/rejection.md",
        needed_by=("values", "sets of labels"),
    ),
    "proof": Room(
        "protonn_edge/extensions/proof protonn_edge/extensions/proof/stages/linear.py protonn_edge/extensions/proof/stages/dense.py "
        "protonn_edge/extensions/proof/stages/forest.py protonn_edge/extensions/proof/stages/projection.py "
        "protonn_edge/extensions/proof/stages/prototypes.py protonn_edge/extensions/proof/stages/pooling.py "
        "protonn_edge/extensions/proof/stages/average_pooling.py protonn_edge/extensions/proof/stages/int8_layer.py "
        "protonn_edge/extensions/proof/stages/convolution.py protonn_edge/extensions/proof/stages/rejection.py "
        "protonn_edge/extensions/teaching/protonn/proof tests/extensions/proof/equality",
    ),
    "certificate": Room(
        "protonn_edge/extensions/proof/certificate protonn_edge/extensions/proof/commands/certify.py protonn_edge/extensions/proof/certificate/library.py "
        "protonn_edge/extensions/proof/certificate/panels.py "
        "templates/export/certificate.md.j2 templates/export/certified.c.j2 templates/export/proof "
        "templates/html/certificate.html.j2 tests/extensions/proof/certificate docs/certificate.md "
        "protonn_edge/extensions/proof/boxes.py protonn_edge/extensions/proof/bounds/linear.py "
        "protonn_edge/extensions/proof/bounds/dense.py protonn_edge/extensions/proof/bounds/forest.py "
        "protonn_edge/extensions/proof/bounds/projection.py protonn_edge/extensions/proof/bounds/prototypes.py "
        "protonn_edge/extensions/proof/bounds/convolution.py protonn_edge/extensions/proof/bounds/int8_layer.py "
        "protonn_edge/extensions/proof/bounds/pooling.py protonn_edge/extensions/proof/bounds/average_pooling.py",
        "verify project",
        "certificates are not installed",
    ),
    "report": Room(
        "protonn_edge/report protonn_edge/cli/report.py protonn_edge/policy/rejection/report.py "
        "protonn_edge/policy/value/report.py protonn_edge/policy/label_sets/report.py "
        "protonn_edge/extensions/teaching/panel.py "
        "templates/html web tests/report tests/web "
        "docs/report.md",
        "data data.csv --html page.html",
        "reports are not installed",
        reports=False,
        needed_by=("studio",),
    ),
    "searches": Room(
        "protonn_edge/learn/search protonn_edge/cli/tune.py protonn_edge/cli/tuning.py "
        "protonn_edge/policy/value/tuning.py protonn_edge/extensions/cascades/tuning.py "
        "tests/tuning tests/extensions/cascades/test_search.py docs/tuning.md",
        "train data.csv -o best.npz --classifier best",
        "tuning is not installed",
    ),
    "conversion": Room(
        "protonn_edge/extensions/conversion protonn_edge/extensions/conversion/commands/convert.py protonn_edge/extensions/conversion/commands/converting.py "
        "protonn_edge/extensions/conversion/trees protonn_edge/extensions/conversion/linear.py "
        "protonn_edge/extensions/conversion/protonn protonn_edge/extensions/conversion/networks "
        "protonn_edge/extensions/conversion/numbers.py protonn_edge/extensions/conversion/networks/numbers.py "
        "protonn_edge/extensions/conversion/trees/numbers.py protonn_edge/extensions/conversion/linear_numbers.py "
        "tests/policy/value/test_convert.py "
        "tests/extensions/conversion docs/conversion.md docs/networks.md",
        "convert model.npz -o model.onnx",
        "conversion is not installed",
    ),
    "observation": Room(
        "protonn_edge/extensions/observation templates/observation "
        "firmware/observation.h tests/extensions/observation docs/health.md",
        "build model.npz -o observed --observe",
        "observation is not installed",
    ),
    "teaching": Room(
        "protonn_edge/extensions/teaching protonn_edge/extensions/teaching/protonn templates/teaching "
        "firmware/teaching.h tests/extensions/teaching tests/extensions/pico/test_teaching.py "
        "tests/extensions/proof/equality/test_taught_examples.py docs/teaching.md",
        "train data.csv -o taught.npz --classifier protonn --teachable 5",
        "teaching is not installed",
        kind="protonn",
    ),
    "sensors": Room(
        "protonn_edge/extensions/sensing protonn_edge/extensions/observation/listener.py "
        "protonn_edge/extensions/observation/monitor.py protonn_edge/extensions/teaching/listener.py "
        "protonn_edge/extensions/teaching/monitor.py templates/sensors tests/extensions/sensing/sensors tests/extensions/sensing/live "
        "tests/extensions/sensing/recording docs/live.md docs/recording.md docs/sensors.md",
        "record -o recording.csv",
        "sensors are not installed",
        needed_by=("studio",),
    ),
    "speech": Room(
        "protonn_edge/extensions/sensing/speech tests/extensions/sensing/speech",
        "speak on,off -o words",
        "speech is not installed",
    ),
    "editing": Room(
        "protonn_edge/extensions/sensing/editing protonn_edge/extensions/sensing/commands/takes.py tests/extensions/sensing/editing",
        "takes data.csv",
        "editing is not installed",
        needed_by=("studio",),
    ),
    "studio": Room(
        "protonn_edge/extensions/studio web/studio tests/extensions/studio docs/studio.md",
        "studio",
        "the studio is not installed",
    ),
    "float builds": Room(
        "protonn_edge/extensions/precision templates/c/precision tests/extensions/precision",
        "build model.npz -o floats --precision float32",
        "float builds are not installed",
    ),
    "one class": Room(
        "protonn_edge/extensions/one_class tests/extensions/one_class",
        "train data.csv -o normal.npz --classifier protonn --one-class",
        "one-class learning is not installed",
        kind="protonn",
    ),
    "paper": Room(
        "protonn_edge/extensions/research/paper tests/extensions/research/paper",
        "train data.csv -o paper.npz --classifier protonn --optimizer alternating",
        "the paper's optimizer is not installed",
        kind="protonn",
    ),
    "protonn": Room(
        "protonn_edge/kinds/protonn templates/c/prototypes",
        "train data.csv -o protonn.npz --classifier protonn",
        "'protonn' is not one of",
        kind="bonsai",
        needed_by=("teaching", "float builds", "one class", "paper"),
    ),
    "projection": Room(
        "protonn_edge/kinds/projection templates/c/projection",
        "train data.csv -o bonsai.npz --classifier bonsai",
        "'bonsai' is not one of",
        needed_by=("protonn", "bonsai"),
    ),
    "bonsai": Room(
        "protonn_edge/extensions/research/kinds/bonsai templates/c/bonsai_tree tests/extensions/research/bonsai",
        "train data.csv -o bonsai.npz --classifier bonsai",
        "'bonsai' is not one of",
    ),
    "forest": Room(
        "protonn_edge/kinds/forest templates/c/forest tests/forest docs/forest.md",
        "train data.csv -o forest.npz --classifier forest",
        "'forest' is not one of",
    ),
    "cascades": Room(
        "protonn_edge/extensions/cascades/kinds/cascade templates/c/cascade tests/extensions/cascades",
        "train data.csv --calibrate model.npz --then model.npz -o cascade.npz",
        "cascades are not installed",
    ),
    "gradients": Room(
        "protonn_edge/features/gradients templates/c/gradients tests/gradients docs/gradients.md",
        "train data.csv -o gradients.npz --image-shape 1x2 --features gradients:1x1",
        "is not one of",
    ),
    "sound": Room(
        "protonn_edge/features/audio templates/c/audio tests/audio docs/audio.md",
        "train data.csv -o sound.npz --features audio:2x2",
        "is not one of",
    ),
    "basis images": Room(
        "protonn_edge/extensions/research/kinds/basis_images tests/extensions/research/basis_images",
        "train data.csv -o basis.npz --classifier basis-images",
        "'basis-images' is not one of",
    ),
    "convolutions": Room(
        "protonn_edge/features/convolution protonn_edge/features/int8_layer "
        "protonn_edge/features/pooling protonn_edge/extensions/conversion/networks/numbers.py "
        "templates/c/convolution templates/c/int8_layer "
        "templates/c/pooling tests/convolution tests/convolution_training docs/convolution.md ",
        "train data.csv -o images.npz --features conv:4x3 --image-shape 1x2",
        "the term 'conv:4x3' of the features is not one of",
        needed_by=("basis images",),
    ),
    "windows of samples": Room(
        "protonn_edge/features/window_features templates/c/window_features tests/window_features",
        "train data.csv -o windows.npz --features mean,max --window 2x1",
        "the term 'mean' of the features is not one of",
        needed_by=("convolutions",),
    ),
    "averages": Room(
        "protonn_edge/features/average_pooling templates/c/average_pooling tests/average_pooling",
        "train data.csv -o averages.npz --image-shape 1x2 --features pool:1x1",
        "is not one of",
        needed_by=("convolutions",),
    ),
    "dense": Room(
        "protonn_edge/kinds/dense templates/c/dense tests/dense",
        "train data.csv -o dense.npz --classifier dense",
        "'dense' is not one of",
        needed_by=("convolutions",),
    ),
    "linear": Room(
        "protonn_edge/kinds/linear templates/c/linear tests/linear",
        "train data.csv -o linear.npz --classifier linear",
        "'linear' is not one of",
        kind="bonsai",
        needed_by=("dense",),
    ),
}


def paths_of(name: str) -> Iterator[str]:
    """Yield the paths of a room, and of the rooms that build on it."""
    yield from ROOMS[name].paths.split()
    for other in ROOMS[name].needed_by:
        yield from paths_of(other)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of all that is installed, compiled."""
    folder = tmp_path_factory.mktemp("whole")
    for name in PARTS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, folder / name)
    compileall.compile_dir(folder / "protonn_edge", quiet=2)
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a table of two classes that any kind can learn."""
    draw = random.Random(1).gauss
    rows = [f"{'xy'[i % 2]},{draw(i % 2 * 3, 1):.2f},{draw(0, 1):.2f}" for i in range(80)]
    path = tmp_path_factory.mktemp("data") / "data.csv"
    path.write_text("\n".join(["label,a,b", *rows]) + "\n")
    path.with_name("sets.svm").write_text("0,1 1:1\n1 2:1\n" * 20)
    return path


@pytest.fixture(scope="module")
def ask(whole: Path) -> Iterator[Callable[..., Any]]:
    """Return what runs a copy in a process of its own; see `room_runner`."""
    script = ROOT / "tests" / "room_runner.py"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with started(sys.executable, script, whole, **pipes) as program:
        assert program.stdin is not None
        assert program.stdout is not None

        def asked(**question: Any) -> Any:
            print(json.dumps(question), file=program.stdin, flush=True)
            return json.loads(program.stdout.readline())

        yield asked
        program.stdin.close()


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_can_be_removed(
    name: str, whole: Path, data: Path, ask: Callable[..., Any], tmp_path: Path
) -> None:
    room = ROOMS[name]
    copy, folder = tmp_path / "copy", tmp_path / "work"
    folder.mkdir()
    shutil.copytree(whole, copy, copy_function=os.link)
    for path in paths_of(name):
        assert (ROOT / path).exists(), path
        if (copy / path).is_dir():
            shutil.rmtree(copy / path)
        else:
            (copy / path).unlink(missing_ok=True)
    shutil.copy(data, folder)
    shutil.copy(data.with_name("sets.svm"), folder)
    commands = [
        "--help",
        f"train data.csv -o model.npz --classifier {room.kind}",
        "build model.npz -o project",
        "hil data.csv --project project --emulate -o project/results.csv",
        *["report project/results.csv --data data.csv"] * room.reports,
        *filter(None, [room.refused]),
    ]
    kept = os.environ["PROTONN_EDGE_REPLAYED_BUILDS"]
    words = [command.split() for command in commands]
    answer = ask(copy=str(copy), folder=str(folder), commands=words, kept=kept)
    assert not answer["failed"], "\n".join(": ".join(each) for each in answer["failed"].items())
    *done, last = answer["done"] if room.refused else [*answer["done"], None]
    for each, exit_code, output, error in done:
        assert exit_code == 0, (each, output, error)
    listed = done[0][2]
    for path in paths_of(name):
        commands_of = {*(ROOT / path).glob("commands/*.py")}
        if path.startswith("protonn_edge/cli/"):
            commands_of.add(ROOT / path)
        for each in commands_of:
            assert f"\n  {each.stem} " not in listed
    if last is not None:
        assert last[1] == 2, (last, "the command is refused")
        assert room.sentence in last[2]
