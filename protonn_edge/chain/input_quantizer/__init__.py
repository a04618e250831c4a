"""Quantization of raw features to bytes."""
