"""Firmware that classifies what its own sensor senses, and what listens to it."""
