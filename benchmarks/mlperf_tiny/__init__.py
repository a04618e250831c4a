"""Firmware for MLPerf Tiny, a benchmark of machine learning on microcontrollers."""
