"""Convolutions: windows of every side, stride and padding, full and of one channel each."""

from __future__ import annotations

from protonn_edge.stages.convolution.integers import IntegerConvolution


def reference(stage: IntegerConvolution, point: list[int]) -> list[int]:
    """Return the values of an image."""
    height, width, channels = stage.shape
    weights, k = stage.weights.tolist(), len(stage.weights[0])
    around = (k - 1) // 2 if stage.padded else 0

    def pixel(y: int, x: int, c: int) -> int:
        inside = 0 <= y < height and 0 <= x < width
        return point[(y * width + x) * channels + c] if inside else 0

    values = []
    for y in range(-around, height + around - k + 1, stage.stride):
        for x in range(-around, width + around - k + 1, stage.stride):
            for o, filters in enumerate(weights):
                a = int(stage.bias[o])
                for i in range(k):
                    for j in range(k):
                        if len(filters[i][j]) == channels:
                            for c in range(channels):
                                a += filters[i][j][c] * pixel(y + i, x + j, c)
                        else:
                            a += filters[i][j][0] * pixel(y + i, x + j, o)
                values.append(_requantized(stage, a))
    return values


def _requantized(stage: IntegerConvolution, a: int) -> int:
    whole, rest = divmod(a * stage.multiplier, 2**stage.shift)
    if stage.to_even and (rest > 128 or (rest == 128 and whole % 2)):
        whole += 1
    return min(max(whole, 0), stage.maximum)
