"""From a budget of bytes to the sizes of a model, by the rules of the ProtoNN paper.

The paper counts 4 bytes a value (float32), the device 1 (int8), so a budget on the device holds as
many values as one four times as large does in the paper. The rules, and where they come from:

- **d** by the budget: 5, 5, 10, 15 outputs at 2, 4, 8, 16 kB for two classes, and 10, 15, 15, 20 at
  16, 32, 64, 128 kB for more, in the paper's kB (section 6, compressed baselines). Below, 5.
- **m** is increased to reach the budget, with W dense, if that leaves at least 40 prototypes for
  two classes (section 6, uncompressed baselines). For more classes section 6 has 5 a class; here 1
  will do, the least of remark 1b: trading d for more cost up to 20 points in 1 kB, 1 in 2 kB.
- Where it leaves fewer, the paper thins W. The device stores matrices dense, so a thin W would save
  nothing there: d is lowered instead (remark 1a: either of the two governs the size).
- If the size allows it, increasing d typically helps (remark 1b), and 10 prototypes a class are
  enough (remark 1: 10 to 20 where classes are few, 3 to 10 where they are some): what those leave
  over goes into d first, and into m once d = D. With more classes than features 2 a class are
  enough (remark 1b: 1 to 2 where classes are many).
- **sparsities** stay as they are set, by default dense. Section 6 has 0.8 for B and Z, which saves
  nothing where matrices are stored dense, as the paper, too, counts them above 0.5. On validation
  points of five data sets it changed the accuracy by -0.9 to +1.0 points, -0.1 on average.
"""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.errors import InputError

_PAPER_BYTES_PER_VALUE = 4
_TWO_CLASSES = ((8_000, 5), (16_000, 10))  # below so many bytes in the paper: so many outputs
_MORE_CLASSES = ((16_000, 5), (32_000, 10), (128_000, 15))
_MOST_OUTPUTS = {True: 15, False: 20}
_FEWEST_OF_TWO_CLASSES = 40
_FEWEST_A_CLASS = 1
_ENOUGH_A_CLASS = 10
_ENOUGH_A_CLASS_OF_MANY = 2
_OUTPUT_LIMIT = 255  # what generated code counts to


@dataclass(frozen=True)
class ModelSizes:
    """How large the matrices of a model are: d and m."""

    n_projections: int
    n_prototypes: int

    def device_bytes(self, n_features: int, n_classes: int) -> int:
        """Return what W, B and Z take as int8 matrices."""
        return _bytes_of(self.n_projections, self.n_prototypes, n_features, n_classes)


def sizes_within(
    budget: int,
    *,
    n_features: int,
    n_classes: int,
    n_points: int,
    n_projections: int | None = None,
) -> ModelSizes:
    """Return the sizes that the paper's rules give for a budget; see the module's text.

    Parameters
    ----------
    budget : int
        Bytes of int8 parameters on the device.
    n_features, n_classes, n_points : int
        D, L and n; there are no more prototypes than points.
    n_projections : int, optional
        d, where it is given by something else.

    Raises
    ------
    InputError
        If not even one projection and one prototype a class fit; the sentence names the bytes that
        they take.
    """
    least = _bytes_of(n_projections or 1, n_classes, n_features, n_classes)
    if budget < least:
        raise InputError(
            f"the budget is {budget:,} B, the smallest model of {n_features:,} features and "
            f"{n_classes:,} classes takes {least:,} B; allow at least that, or use fewer features"
        )
    if n_projections is None:
        d = min(_outputs_for(budget, n_classes), n_features)
        d = _lowered(d, budget, n_features, n_classes)
        d = _raised(d, budget, n_features, n_classes, n_points)
    else:
        d = n_projections
    m = min(_prototypes_for(d, budget, n_features, n_classes), max(n_points, 1))
    return ModelSizes(d, m)


def _bytes_of(d: int, m: int, n_features: int, n_classes: int) -> int:
    return d * n_features + d * m + n_classes * m


def _prototypes_for(d: int, budget: int, n_features: int, n_classes: int) -> int:
    """Return the most prototypes that fit beside d projections; negative if these do not fit."""
    return (budget - d * n_features) // (d + n_classes)


def _outputs_for(budget: int, n_classes: int) -> int:
    two = n_classes == 2
    in_the_paper = _PAPER_BYTES_PER_VALUE * budget
    for below, outputs in _TWO_CLASSES if two else _MORE_CLASSES:
        if in_the_paper < below:
            return outputs
    return _MOST_OUTPUTS[two]


def _lowered(d: int, budget: int, n_features: int, n_classes: int) -> int:
    """Lower d until there is room for the fewest prototypes that are of use, or d is 1."""
    fewest = _fewest_prototypes(n_classes)
    while d > 1 and _prototypes_for(d, budget, n_features, n_classes) < fewest:
        d -= 1
    return d


def _raised(d: int, budget: int, n_features: int, n_classes: int, n_points: int) -> int:
    """Raise d as long as there is room for as many prototypes as are enough."""
    a_class = _ENOUGH_A_CLASS_OF_MANY if n_classes > n_features else _ENOUGH_A_CLASS
    enough = max(a_class * n_classes, _fewest_prototypes(n_classes))
    highest = min(n_features, _OUTPUT_LIMIT)
    while d < highest and _prototypes_for(d + 1, budget, n_features, n_classes) >= min(
        enough, n_points
    ):
        d += 1
    return d


def _fewest_prototypes(n_classes: int) -> int:
    return _FEWEST_OF_TWO_CLASSES if n_classes == 2 else n_classes * _FEWEST_A_CLASS
