"""Cascades of models with different features of windows: warnings in their C refused all builds."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
from extensions.cascades.cascade_factory import cascade_of
from generated_programs import write_c
from model_factory import random_window_model, random_windows, window_features_of

from protonn_edge.model.quantization import quantize


def test_values_with_decimals_have_one_form_of_scales(tmp_path: Path) -> None:
    """Scales of raw values had a field that those of computed features lacked."""
    features = [window_features_of(text) for text in ("mean,max", "deviation,bands:2")]
    chains = [quantize(random_window_model(each)) for each in features]
    chain = cascade_of(*chains, random_windows(0, 20, features[0]))
    chain = replace(chain, raw_exponents=np.full(chain.n_features, 2))
    write_c(chain, tmp_path)
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "pnn_model.c"]
    subprocess.run(command, check=True, timeout=60, cwd=tmp_path)
