"""What is refused that was once accepted, or refused without a sentence."""

from __future__ import annotations

import configparser
import errno
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tomllib
import warnings
from dataclasses import replace
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from checkout import CHECKOUT, skip_unless_checked_out
from click.testing import CliRunner
from command_line import assert_one_sentence, refusal, run, run_json, succeed
from extension_parts import needs
from model_factory import random_window_model, window_features_of
from policy.value.numbers import points
from refusals import refused_by, refuses

from protonn_edge.cli.command import BUG_EXIT_CODE, OUTPUT, TRACEBACK_VARIABLE, command
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.kinds.protonn.value.train import ProtoNNRegressor
from protonn_edge.learn.search import workers
from protonn_edge.learn.search.workers import Processes
from protonn_edge.model.file import save_model

# Board files of odd types and sizes are refused in one short sentence.

UNO = resources.files("protonn_edge.chips.boards").joinpath("uno.toml").read_text("utf-8")

ODD = {
    "a list as core": ('core = "avr5"', 'core = ["avr5"]'),
    "a table as core": ('core = "avr5"', "core = {a = 1}"),
    "a huge decimal number": ("clock_hz = 16_000_000", f"clock_hz = {'9' * 5_000}"),
    "a huge hexadecimal number": ("clock_hz = 16_000_000", f"clock_hz = 0x{'f' * 5_000}"),
    "deep nesting": ("clock_hz = 16_000_000", f"clock_hz = {'[' * 5_000}{']' * 5_000}"),
    "a long key": ("clock_hz = 16_000_000", f"{'k' * 5_000} = 1"),
    "a long value": ('core = "avr5"', f'core = "{"x" * 5_000}"'),
    "next to no power": ("power_watts = 0.2455", "power_watts = 5e-324"),
}


@pytest.mark.parametrize("case", ODD)
def test_an_odd_board_file_is_refused(tmp_path, case):
    old, new = ODD[case]
    assert old in UNO
    path = tmp_path / "mine.toml"
    path.write_text(UNO.replace(old, new), encoding="utf-8")
    assert len(refusal(run("inspect", path))) < 600


@pytest.mark.parametrize("name", ["9" * 5_000, "x" * 5_000 + ".toml"])
def test_a_long_name_of_a_board_is_shortened(name):
    assert len(refusal(run("build", "m.npz", "--board", name))) < 600


# What gets past all checks ends a command in one sentence: no traceback, no warning of NumPy.


def command_of(body):
    @command("odd")
    def odd(out=OUTPUT):
        body()

    return odd


def overflow():
    np.array([1e300]) * np.array([1e300])


def not_a_number():
    np.array([np.inf]) - np.array([np.inf])


def division():
    np.array([1.0]) / np.array([0.0])


def unmapped():
    raise ImportError("scipy/x.so: failed to map segment from shared object")


def gone():
    raise FileNotFoundError(2, "No such file or directory")  # os.getcwd names no file


def without_files():
    raise OSError(errno.EMFILE, "Too many open files", "results.csv")


def read_only():
    raise OSError(errno.EROFS, "Read-only file system")  # of /dev/shm, which is not named


def warn():
    warnings.simplefilter("always")
    warnings.warn("something is odd", UserWarning, stacklevel=1)


def bug():
    {}["of\nours"]


TOO_LARGE = "error: a number in the input or an option is too large"


@pytest.mark.parametrize(
    ("body", "exit_code", "said"),
    [
        (overflow, 2, TOO_LARGE),
        (not_a_number, 2, TOO_LARGE),
        (division, 2, TOO_LARGE),
        (lambda: np.exp(np.array([-1e6])), 0, ""),  # what vanishes is no error
        (unmapped, 2, "error: the command needs more memory than is available; "),
        (gone, 2, "error: cannot use the current folder: No such file"),
        (without_files, 2, "error: too many open files: the limit is too low; raise it"),
        (read_only, 2, "error: the system refuses memory that processes share, or a socket: Read"),
        (warn, 0, "warning: something is odd\n"),  # without its place in the source
        (bug, BUG_EXIT_CODE, "error: this is a bug in protonn-edge (KeyError: 'of\\nours')"),
    ],
)
def test_what_gets_past_all_checks_is_at_most_one_sentence(body, exit_code, said, monkeypatch):
    monkeypatch.delenv(TRACEBACK_VARIABLE)
    done = CliRunner().invoke(command_of(body), [])
    assert done.exit_code == exit_code
    assert done.stderr.startswith(said)
    assert len(done.stderr.splitlines()) == bool(said)


def test_a_bug_is_in_the_json_object_and_has_its_traceback_where_it_is_asked_for(monkeypatch):
    done = CliRunner().invoke(command_of(bug), [])  # as in all tests: see conftest.py
    assert isinstance(done.exception, KeyError)
    monkeypatch.delenv(TRACEBACK_VARIABLE)
    done = CliRunner().invoke(command_of(bug), ["--json"])
    assert done.stdout.startswith('{"ok": false, "error": "this is a bug')


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full: run it on Linux")
@pytest.mark.parametrize("words", [["inspect", "--help"], ["--version"]])
def test_a_help_text_that_cannot_be_written_is_one_sentence(words):
    program = "from protonn_edge.cli import main; main()"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program, *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert (
        done.stderr
        == "error: cannot print the help text: No space left on device; redirect the output\n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell: run it elsewhere")
@pytest.mark.parametrize(
    ("words", "exit_code", "says"),
    [
        (["inspect", "--boards"], 0, ""),
        pytest.param(
            ["record", "-o", "x.csv", "--label", "a"],
            2,
            "there is no terminal to read keys from",
            marks=needs("sensing"),
        ),
        pytest.param(
            ["monitor", "--project", "nowhere", "--emulate"], 2, "error: ", marks=needs("sensing")
        ),
    ],
)
def test_closed_streams_are_no_bug(words, exit_code, says):
    program = "from protonn_edge.cli import main; main()"
    command = ["sh", "-c", '"$@" <&- >&-', "sh", sys.executable, "-c", program, *words]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, says in done.stderr) == (exit_code, True), done.stderr
    assert "Traceback" not in done.stderr
    assert "this is a bug" not in done.stderr


# Points with numbers or sets of labels may be in groups.

X, NUMBERS = points(n=120)
GROUPS = np.arange(120) % 4
SETS = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)


@pytest.mark.parametrize(
    ("kind", "y"), [(ProtoNNRegressor, NUMBERS), (ProtoNNClassifier, SETS)], ids=["numbers", "sets"]
)
def test_groups_do_not_shift_points_without_classes(kind: Any, y: Any) -> None:
    estimator = kind(epochs=3, n_prototypes=4, random_state=0)
    in_groups, alone = (estimator.fit(X, y, groups=each).predict(X) for each in (GROUPS, None))
    np.testing.assert_array_equal(in_groups, alone)
    with refused_by("learn.training_request"):
        estimator.set_params(group_shift=2.0).fit(X, y, groups=GROUPS)


def test_a_table_of_numbers_is_divided_by_groups(tmp_path: Path) -> None:
    table = tmp_path / "data.csv"
    rows = [
        f"{a:.3f},{b:.3f},p{g},{y:.2f}"
        for (a, b), g, y in zip(X[:, :2], GROUPS, NUMBERS, strict=True)
    ]
    table.write_text("\n".join(["a,b,person,y", *rows]) + "\n")
    options = ("--label", "y", "--groups", "person", "--epochs", "3")
    told = run_json("train", table, *options, "-o", tmp_path / "model.npz")
    assert told["n"] == 30  # one person
    asked = run("train", table, *options, "--group-shift", "1.5", "-o", tmp_path / "other.npz")
    assert "--group-shift is for points of one class each" in refusal(asked)


# A project is not replaced by one of another kind, which was done without a word.


def test_a_logger_is_replaced_by_loggers_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_model(random_window_model(window_features_of("mean,max", 20, 6)), Path("m.npz"))
    words = ["build", "--sensor", "mpu6050", "-o", "here", "--rate"]
    run_json(*words, 100)
    run_json(*words, 50)
    before = Path("here/src/main.c").read_text()
    sensor = ["--sensor", "mpu6050", "--rate", 100]
    for given in (
        ["build", "m.npz", *sensor, "-o", "here"],
        ["build", "m.npz", "-o", "here"],
        ["export", "m.npz", "--arduino", "here"],
    ):
        assert "contains a logger, which" in refusal(run(*given))
    assert Path("here/src/main.c").read_text() == before


def test_a_project_of_another_kind_names_the_command_that_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = random_window_model(window_features_of("mean,max", 20, 6))
    save_model(replace(model, raw_exponents=np.zeros(6, np.int64)), Path("m.npz"))
    run_json("build", "--sensor", "mpu6050", "--rate", 100)
    run_json("build", "m.npz", "--sensor", "mpu6050", "--rate", 100)
    refuses(run("hil", "data.npz", "--emulate", "--project", "live"), "codegen.export.folder")
    hil = ["hil", "data.npz", "--emulate", "--project", "logger"]
    refuses(run(*hil), "codegen.export.folder")
    monitor = ["monitor", "--emulate", "--project", "logger"]
    refuses(run(*monitor), "codegen.export.folder")
    Path("plain").mkdir()
    Path("plain/platformio.ini").write_text("")  # as 'build' without a sensor writes it
    monitor = ["monitor", "--emulate", "--project", "plain"]
    refuses(run(*monitor), "codegen.export.folder")
    record = ["record", "--emulate", "--project", "live", "-o", "r.csv", "--label", "x"]
    record += ["--takes", "1", "--seconds", "1"]
    refuses(run(*record), "codegen.export.folder")


# What is installed or started is of one version, and sends nothing.


def test_the_platform_is_pinned_to_the_version_of_its_stand_in():
    skip_unless_checked_out("platformio.ini")
    settings = configparser.ConfigParser(inline_comment_prefixes=";")
    settings.read(CHECKOUT / "platformio.ini", encoding="utf-8")
    shim = CHECKOUT / "protonn_edge/chips/toolchain/shim/platforms/atmelavr/platform.json"
    version = json.loads(shim.read_text("utf-8"))["version"]
    assert settings["avr"]["platform"] == f"atmelavr@{version}"
    example = CHECKOUT / "templates/export/platformio/platformio.ini.j2"
    assert f"platform = atmelavr@{version}\n" in example.read_text("utf-8")


def test_an_isolated_build_takes_the_hatchling_of_the_constraints():
    skip_unless_checked_out("constraints.txt")
    build = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["build-system"]
    assert len(build["requires"]) == 1
    assert build["requires"][0] in (CHECKOUT / "constraints.txt").read_text("utf-8").splitlines()


def test_telemetry_is_off_in_make():
    skip_unless_checked_out("Makefile")
    lines = (CHECKOUT / "Makefile").read_text("utf-8").splitlines()
    assert any(
        re.match(r"export PLATFORMIO_SETTING_ENABLE_TELEMETRY \?= no$", each) for each in lines
    )


# Shapes that contradict the images' own, though both have as many pixels, are refused.


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    image = pytest.importorskip("PIL.Image", reason="needs Pillow: install it")
    folder, rng = tmp_path_factory.mktemp("images"), np.random.default_rng(0)
    for label, mean in ("a", 60), ("b", 190):
        (folder / label).mkdir()
        for number in range(6):
            pixels = np.clip(rng.normal(mean, 30, (12, 8)), 0, 255).astype(np.uint8)
            image.fromarray(pixels).save(folder / label / f"{number}.png")
    return folder


@pytest.mark.parametrize("features", [(), ("--features", "gradients:2x2")])
def test_images_are_scaled_as_the_model_knows_them(
    images: Path, tmp_path: Path, features: tuple[str, ...]
) -> None:
    model = tmp_path / "m.npz"
    succeed("train", images, "-o", model, "--size", "4x6", "--epochs", 1, *features)
    complaint = "--size is 6x4, but the model was trained on images of 4x6 pixels; omit it"
    assert_one_sentence(run("predict", model, images, "--size", "6x4"), complaint)
    right = succeed("predict", model, images).stdout
    assert succeed("predict", model, images, "--size", "4x6").stdout == right


def test_another_shape_than_that_of_the_images_is_refused(images: Path, tmp_path: Path) -> None:
    done = run("train", images, "-o", tmp_path / "m.npz", "--size", "4x6", "--image-shape", "6x4")
    assert_one_sentence(done, "but the images have 4x6 pixels; omit --image-shape")
    same = ("--size", "4x6", "--image-shape", "4x6", "--epochs", 1)
    succeed("train", images, "-o", tmp_path / "m.npz", *same)


# Ctrl-C goes to the whole terminal: processes of a search print no stack traces, even new ones.


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT: run it elsewhere")
def test_ctrl_c_does_not_reach_a_process_that_still_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(workers, "multiprocessing", multiprocessing)  # begun as users have it
    file = SimpleNamespace(path=tmp_path / "search.jsonl")
    with Processes(None, file, 1) as processes:  # type: ignore[arg-type]  # nothing reads them
        answer = processes.submit(0)
        for number in processes._pool._processes:
            os.kill(number, signal.SIGINT)
        # It lives: this is the job's own error, and no broken pool.
        assert isinstance(answer.exception(timeout=60), AttributeError)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())  # here it still does
