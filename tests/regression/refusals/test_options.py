"""An option that is far out of range is refused at once, by the estimator and the command alike."""

from __future__ import annotations

import numpy as np
import pytest
from command_line import run, run_json
from extension_parts import needs
from refusals import refuses

from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.parameters import Number

RANGES = [
    ("--learning-rate", "learning_rate", 1e308),
    ("--learning-rate", "learning_rate", 5e-324),
    ("--gamma-numerator", "gamma_numerator", 1e308),
    ("--gamma", "gamma", 1e-308),
    ("--gamma", "gamma", 1e38),
    ("--noise", "input_noise", 1e39),
    ("--outlier-exposure", "strangers", 1e308),
    ("--outlier-exposure", "strangers", 1e30),
    ("--group-shift", "group_shift", 1e30),
    ("--sample-rate", "sample_rate", 5e-324),
    ("--epochs", "epochs", 10**12),
    pytest.param("--pass-epochs", "pass_epochs", 65_535, marks=needs("research")),
    pytest.param("--iterations", "iterations", 10**9, marks=needs("research")),
]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "data.csv"
    rows = [f"{i % 2},{i % 7},{i % 5 + 10 * (i % 2)}" for i in range(40)]
    path.write_text("label,x,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(("flag", "name", "value"), RANGES)
def test_the_command_refuses_it(table, tmp_path, flag, name, value):
    done = run("train", table, "-o", tmp_path / "model.npz", flag, value)
    assert done.exit_code == 2, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert f"invalid value for '{flag}'" in done.stderr
    assert "is not in the range" in done.stderr
    assert not (tmp_path / "model.npz").exists()


@pytest.mark.parametrize(("flag", "name", "value"), RANGES)
def test_the_estimator_refuses_it(flag, name, value):
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(ValueError, match=f"The '{name}' parameter of ProtoNNClassifier"):
        ProtoNNClassifier(**{name: value}).fit(X, y)


def test_a_power_has_a_range(tmp_path):
    done = run("report", tmp_path / "results.csv", "--watts", 5e-324)
    assert done.exit_code == 2
    assert "invalid value for '--watts'" in done.stderr


@pytest.mark.parametrize("exponent", [20, 37])
def test_features_too_large_to_compute_with_are_refused(tmp_path, exponent):
    path = tmp_path / "large.csv"
    rows = [f"{i % 2},{i % 7}e{exponent},{i % 5}e{exponent}" for i in range(40)]
    path.write_text("label,x,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    done = run("train", path, "-o", tmp_path / "model.npz", "--normalization", "none")
    refuses(done, "learn.normalization")


def test_every_training_number_has_an_upper_end():
    endless = {
        name
        for name, declared in ProtoNNClassifier.parameters.items()
        for each in declared.values
        if isinstance(each, Number) and each.high is None
    }
    assert endless == {"budget"}  # which the board's memory limits


def test_a_share_is_written_as_people_write_it(table, tmp_path):
    """A share without a digit before its point was refused, once percentages were accepted."""
    words = ("train", table, "-o", tmp_path / "m.npz", "--classifier", "linear")
    for share in (".25", "0.25", "25%", "25 %", "2.5e-1"):
        assert run_json(*words, "--holdout", share)["n"] == 10
    for share in ("25", "1", "100%", "nan", "-.5", ".", "%", "1e9%"):
        assert "is not a share from 0 to below 1" in run(*words, f"--holdout={share}").stderr
        assert "is not a share between 0 and 1" in run(*words, f"--rejection={share}").stderr
    assert "is not a share between 0 and 1" in run(*words, "--rejection", 0).stderr
