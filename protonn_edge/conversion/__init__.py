"""Conversion of the reference implementation's models, estimators, trees and networks."""

from typing import Literal, get_args

Features = Literal["raw", "normalized"]
"""What the reference implementation's W takes."""

Layout = Literal["text", "npy"]
"""How its matrices lie in a folder: as the C++ program writes them, or the Python programs."""

LAYOUTS: tuple[Layout, ...] = get_args(Layout)
EPOCHS = 60
"""Epochs of training on an estimator's answers, where the conversion is not exact."""
NETWORK_FILES = (".onnx", ".tflite")
BOOSTER_FILES = (".json", ".ubj", ".txt")
"""The suffixes of files of XGBoost, and of LightGBM."""
