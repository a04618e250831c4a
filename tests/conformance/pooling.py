"""Pooling: the largest and the average value, in windows of 2x2 and of whole images."""

from __future__ import annotations

from protonn_edge.stages.pooling.integers import IntegerPooling


def reference(stage: IntegerPooling, point: list[int]) -> list[int]:
    """Return the values of an image."""
    height, width, channels = stage.shape
    down, across = stage.window
    values = []
    for y in range(0, height - down + 1, down):
        for x in range(0, width - across + 1, across):
            for c in range(channels):
                window = [
                    point[((y + i) * width + x + j) * channels + c]
                    for i in range(down)
                    for j in range(across)
                ]
                if stage.how == "maximum":
                    values.append(max(window))
                else:
                    values.append((sum(window) * stage.multiplier + 32_768) >> 16)
    return values
