"""The kernel of the prototypes: comparison of a point with each, and votes of near ones.

The labels of its loops state how many prototypes can be near any one point by each prefix of the
coordinates; docs/generated-code.md proves the bound of this number. It defines a centre c,
prototypes ``a_j = b_j - c``, a point ``c + t u``, and ``h_j(t) = (|a_j|^2 + t^2 - limit) / 2t``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Calls, Cost, Feed, Kernel, Step, code_bytes
from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed
from protonn_edge.codegen.kernels.matvec.loops import blocks_of
from protonn_edge.kinds.protonn.additions import voters_kernel
from protonn_edge.kinds.protonn.prototypes import loops
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
from protonn_edge.kinds.protonn.prototypes.voters import VotersKernel
from protonn_edge.model.activity import Activity
from protonn_edge.model.folding import FloatArray

_FIRST_INTERVALS = 8
_ROUNDS, _HALVED = 4, 4  # rounds of halving, and the shells halved in each

# How often the centre moves towards the point with the largest bound of near prototypes, and by
# which part of the way at first; this is halved whenever the bound gets no better.
_MOVES = 4
_PART = 0.3

# Directions along which prototypes vary more than on average are examined. The Lagrange multiplier
# is tried at the largest eigenvalue plus the linear part times each of these.
_VARIANCE = 2.0
_MULTIPLIERS = 2.0 ** np.arange(-10, 4)
_ROUNDING = 1e-9  # relative; float errors are far smaller

# Up to this number, each prefix of the coordinates is examined, beyond it only all of them: a bound
# for fewer coordinates holds for more, and the time of a direction grows with the cube of their
# number.
_PREFIXES = 40

# No chip can hold more numbers, so any bound suffices beyond.
_MOST_NUMBERS = 1 << 16


def near_at_most(stage: IntegerPrototypes) -> NDArray[np.int64]:
    """Return bounds (d,) of how many prototypes can be near one point by 1..d coordinates."""
    B = np.ascontiguousarray(stage.prototypes)
    if B.size > _MOST_NUMBERS:
        return np.full(len(B), B.shape[1], np.int64)
    return np.array(_near_at_most(B.tobytes(), B.shape, stage.distance_limit), np.int64)


@dataclass(frozen=True, order=True)
class _Shell:
    """Points from `start` to `end` away from the centre.

    At least `spare` prototypes are far. `direction`, of length 1 or None, approximately points to
    where the most may be near.
    """

    spare: float
    start: float
    end: float
    direction: FloatArray | None = field(compare=False)

    @property
    def halves(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Start and end of its inner and its outer half."""
        middle = (self.start + self.end) / 2
        return (self.start, middle), (middle, self.end)


@lru_cache(maxsize=256)  # at most 16 MB; plans for all boards, and searches, ask again
def _near_at_most(prototypes: bytes, shape: tuple[int, int], limit: int) -> tuple[int, ...]:
    points = np.frombuffer(prototypes, np.int8).reshape(shape).T.astype(np.float64)
    means, moved, most, bounds = points.mean(axis=0), np.zeros(0), len(points), []
    for k in range(1, shape[0] + 1):
        moved = np.append(moved, 0.0)
        if _PREFIXES < k < shape[0]:
            bounds.append(most)
            continue
        spare, centre = _least_spare(points[:, :k], means[:k] + moved, limit)
        moved = centre - means[:k]
        most = min(most, len(points) - math.ceil(spare - _ROUNDING * len(points)))
        bounds.append(most)
    return tuple(bounds)


def _least_spare(points: FloatArray, centre: FloatArray, limit: int) -> tuple[float, FloatArray]:
    """Return how many points (n, k) are at least far from any one point, and the centre used.

    Any centre gives a valid bound; it is moved to where more points may be near, for a tighter one.
    """
    best, part = _worst_shell(points - centre, limit), _PART
    for _ in range(_MOVES):
        if best.direction is None:
            break
        other = centre + part * (best.start + best.end) / 2 * best.direction
        worst = _worst_shell(points - other, limit, best.spare)
        if worst.spare > best.spare:
            best, centre = worst, other
        else:
            part /= 2
    return best.spare, centre


def _worst_shell(a: FloatArray, limit: int, least: float = -math.inf) -> _Shell:
    """Return the shell around 0 whose points have the largest bound of near points of a (n, k).

    If that shell spares at most `least`, any such shell may be returned.
    """
    lengths = np.square(a).sum(axis=1)
    excess = lengths - limit
    if excess.max() < 0:
        return _Shell(0.0, 0.0, 0.0, None)  # all are near from the centre
    variances = _VARIANCE * ((a @ (a.T @ a)) * a).sum(axis=1) / lengths.sum() + _ROUNDING
    ends = np.linspace(0, math.sqrt(lengths.max()) + math.sqrt(limit), _FIRST_INTERVALS + 1)
    shells = sorted(_shells(a, excess, variances, np.stack([ends[:-1], ends[1:]], axis=1)))
    for left in range(_ROUNDS, 0, -1):
        if sum(shell.spare <= least for shell in shells) > left * _HALVED:
            break  # each halving removes one of them
        worst, others = shells[:_HALVED], shells[_HALVED:]
        halves = [half for shell in worst for half in shell.halves]
        shells = sorted([*others, *_shells(a, excess, variances, np.array(halves))])
    return shells[0]


def _shells(
    a: FloatArray, excess: FloatArray, variances: FloatArray, ends: FloatArray
) -> list[_Shell]:
    """Return the shells between `ends` (s, 2), with bounds of the prototypes near their points.

    `excess` is |a|^2 minus the limit; `variances` are about those of each a's product with u.
    """
    roots = np.sqrt(np.maximum(excess, 0))
    distance = np.minimum(np.maximum(roots, ends[:, :1]), ends[:, 1:])  # where h_j is smallest
    over = excess + distance * distance
    far = over > 0
    h = np.divide(over, 2 * distance, out=np.zeros_like(over), where=far)
    weights = far / (h * h + variances)
    squares, directions = _largest_forms(a, h, variances, weights)
    spares = np.maximum(0.0, far.sum(axis=1) - squares)
    return [
        _Shell(spare, start, end, direction if any_far else None)
        for spare, (start, end), direction, any_far in zip(
            spares.tolist(), ends.tolist(), directions, far.any(axis=1), strict=True
        )
    ]


def _largest_forms(
    a: FloatArray, h: FloatArray, v: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Bound the sum of the squares of (h_j a_j u + v_j) weight_j over unit vectors u.

    For each of s rows of h and weights, (s, n), return the bound, (s,), and approximately the u of
    the largest sum, (s, k).

    A sum is ``u'Mu + 2 g'u + c``. For any l above M's eigenvalues l_i it is at most
    ``l + c + sum_i g_i^2 / (l - l_i)``, with g in the eigenvectors' directions (the Lagrangian
    bound, which is tight for the best l).
    """
    scaled, constant = a * (h * weights)[:, :, None], v * weights
    eigenvalues, vectors = np.linalg.eigh(scaled.transpose(0, 2, 1) @ scaled)
    g = (constant[:, None] @ scaled @ vectors)[:, 0]
    largest, lengths = eigenvalues[:, -1:], np.sqrt((g * g).sum(axis=1))
    above = np.maximum(lengths, _ROUNDING)[:, None] * _MULTIPLIERS
    gaps = (largest - eigenvalues)[:, None] + above[:, :, None]
    bounds = largest + above + ((g * g)[:, None] / gaps).sum(axis=2)
    best = bounds.argmin(axis=1)
    each = np.arange(len(best))
    u = (vectors @ (g / gaps[each, best])[:, :, None])[:, :, 0]
    sizes = np.sqrt((u * u).sum(axis=1))[:, None]
    directions = np.where(sizes > 0, u / np.where(sizes > 0, sizes, 1.0), vectors[:, :, -1])
    return bounds[each, best] + (constant * constant).sum(axis=1), directions


# Near prototypes listed before they vote: more need more SRAM, fewer take longer.
_NEIGHBOURS_AT_LEAST, _NEIGHBOURS_AT_MOST = 10, 40
_NEIGHBOURS_SHARE = 16
_NEIGHBOUR_BYTES = compiled.bytes_of("uint8_t", "uint16_t")

# Up to this number of prototypes, all pairs are examined to choose checks.
_PROTOTYPES_COMPARED = 200


@dataclass(frozen=True, eq=False)
class PrototypesKernel(Kernel):
    """Compares prototypes one by one; near ones are listed, and vote when the list is full."""

    stage: IntegerPrototypes
    name: str = "listed"

    @cached_property
    def voting(self) -> loops.Voting:
        """The comparisons, and the votes of near prototypes."""
        stage = self.stage
        overflows = [coordinate.overflows for coordinate in coordinates_of(stage)]
        return loops.Voting(
            loops.compared_steps(overflows, checked_coordinates(stage)),
            blocks_of(stage.n_outputs, stage.output.bits // 8),
            stride=stage.n_inputs + stage.n_outputs,
            shift=stage.distance_shift,
            limit=stage.distance_limit >> 8,
            nearest=stage.gives_nearest,
        )

    @cached_property
    def clearing(self) -> Listing:
        """The loop that sets all scores to 0."""
        return loops.clearing(self.stage.output.bits // 8)

    @property
    def listings(self) -> tuple[Listing, ...]:
        """Its loops."""
        return (self.voting.listing, self.clearing)

    @property
    def clearing_facts(self) -> Facts:
        """How often the loop that clears scores is passed."""
        return {"score": Passed(self.stage.n_outputs, self.stage.n_outputs)}

    @property
    def facts(self) -> Facts:
        """How often the labels of comparisons and votes can be passed, given the geometry."""
        stage, voting = self.stage, self.voting
        at_most = near_at_most(stage).tolist()
        near, m = at_most[-1], stage.n_prototypes
        facts = {"step0": Passed(m, m), "accident": Passed(_accidents(stage) + 1)}
        reached = m
        for step in voting.steps[:-1]:
            reached = at_most[step.number] if step.checked else reached
            facts[f"step{step.number + 1}"] = Passed(reached)
        facts["listed"] = Passed(near)
        facts["again"] = Passed(near // self.neighbours_at_once + 1, 1)
        facts["some"] = Passed(-(-near // self.neighbours_at_once))
        return facts | {f"voter{b.number}": Passed(1, 1, of="listed") for b in voting.blocks}

    @cached_property
    def voters(self) -> VotersKernel | None:
        """The code of what votes beside the prototypes."""
        voters = self.stage.voters
        if voters is None:
            return None
        kernel: VotersKernel = voters_kernel(voters.extension, self.stage)
        return kernel

    @property
    def rows(self) -> list[list[int]]:
        """A row per prototype: its coordinates and labels."""
        rows: list[list[int]] = np.concatenate(
            [self.stage.prototypes, self.stage.labels]
        ).T.tolist()
        return rows

    @property
    def neighbours_at_once(self) -> int:
        """Number of near prototypes that vote together."""
        m = self.stage.n_prototypes
        share = m // _NEIGHBOURS_SHARE
        return min(m, max(_NEIGHBOURS_AT_LEAST, min(share, _NEIGHBOURS_AT_MOST)))

    def cost(self, _: Feed | None, __: Calls, activity: Activity, /) -> Cost:
        """Return its cost."""
        stage = self.stage
        flash = int(stage.prototypes.nbytes + stage.labels.nbytes + stage.table.nbytes)
        steps = [self._on_core(self._step(activity, flash), activity)]
        code = code_bytes(self)
        state = stage.n_outputs * stage.output.bits // 8
        state += _NEIGHBOUR_BYTES * self.neighbours_at_once
        if self.voters is not None:
            added = self.voters.cost
            steps += [step.on(self.core) for step in added.steps]
            code += added.code
            state += added.state
        return Cost(
            steps=tuple(steps),
            tables=flash,
            code=code,
            state=state,
        )

    def _step(self, activity: Activity, flash_bytes: int) -> Step:
        stage, voting = self.stage, self.voting
        saved = compiled.SAVED_CYCLES * len(voting.saved_registers)
        clear = self.clearing.path("score", ["score"], {"score": 1}) * stage.n_outputs
        around = compiled.calls(1, self.core) + saved + clear
        around += voting.once + voting.accident * _accidents(stage)
        fetched = any(step.register is None for step in voting.steps)
        where = "partly in registers" if fetched else "in registers"
        kernel = f"point {where}, {stage.output.bits}-bit scores"
        return Step("prototypes", kernel, flash_bytes, around + self._compared(activity))

    def _reached(self, activity: Activity) -> tuple[FloatArray, FloatArray]:
        """Return how often each coordinate is compared, and each prototype is near.

        A file may state that more are near than can be.
        """
        stage, m = self.stage, self.stage.n_prototypes
        most = near_at_most(stage) / m
        unknown = np.append(1.0, most[:-1]), np.full(m, most[-1])
        coordinates, prototypes = activity.stages.get(stage.kind, unknown)
        limit = m * most[-1] / max(float(prototypes.sum()), 1e-300)
        return np.minimum(coordinates, unknown[0]), prototypes * min(1.0, limit)

    def _on_core(self, step: Step, activity: Activity) -> Step:
        """Return the step on its chip: portable C takes a turn of a loop for each product."""
        if self.core.multiplies:
            return step
        reached, prototypes = self._reached(activity)
        squares, votes = self.stage.n_prototypes * reached.sum(), prototypes.sum()
        products = float(squares + self.stage.n_outputs * votes)
        step = step.on(self.core, products)
        return replace(step, mean=step.mean + compiled.TURN_CYCLES * products)

    def _compared(self, activity: Activity) -> float:
        """Return the mean cycles of comparisons and votes."""
        voting, m = self.voting, self.stage.n_prototypes
        reached, prototypes = self._reached(activity)
        near = float(prototypes.sum())
        left = m * (reached - np.append(reached[1:], near / m))
        # approximately how often any is near
        some = (prototypes.max() + 1 - np.prod(1 - prototypes)) / 2
        lists = max(0.0, near / self.neighbours_at_once - 0.5)
        votes = (some + lists) * voting.round + (1 - some) * voting.empty_round
        return float(left @ voting.left_after + near * voting.near + votes)


def _accidents(stage: IntegerPrototypes) -> int:
    """Return how many prototypes end at the same lower address byte as the last one."""
    m, stride = stage.n_prototypes, stage.n_inputs + stage.n_outputs
    return int(np.count_nonzero(np.arange(1, m) * stride % 256 == 0))


def checked_coordinates(stage: IntegerPrototypes) -> tuple[bool, ...]:
    """Return after which coordinates it pays to check whether a prototype is far.

    A check costs one cycle, leaving one more, and continuing in vain the cycles of a coordinate.
    The share of far prototypes is estimated from the prototypes' distances to each other. Between
    two checks, squares must not exceed 16 bits.
    """
    d, limit = stage.n_inputs, stage.distance_limit
    left = _share_within_reach(stage)
    squares = [coordinate.largest_square for coordinate in coordinates_of(stage)]
    cost, following = [math.inf] * d + [0.0], [d] * d
    for k in reversed(range(d)):
        room = (1 << 15) if k else (1 << 15) + limit - 1
        for end in range(k + 1, d + 1):
            room -= squares[end - 1]
            if room < 0:
                break
            spent = left[k] * (8 * (end - k) + 1) + (left[k] - left[end]) + cost[end]
            if spent < cost[k]:
                cost[k], following[k] = spent, end
    checks, k = set(), 0
    while k < d:
        k = following[k]
        checks.add(k - 1)
    return tuple(k in checks for k in range(d))


def _share_within_reach(stage: IntegerPrototypes) -> list[float]:
    """Return the share of pairs of prototypes that are still near after 0..d coordinates."""
    m = stage.n_prototypes
    some = stage.prototypes[:, :: -(-m // _PROTOTYPES_COMPARED)].T.astype(np.int64)
    squares = np.square(some[:, None] - some).cumsum(axis=2)
    near = np.count_nonzero(squares < stage.distance_limit, axis=(0, 1)) - len(some)
    return [1.0, *(near / max(1, len(some) * (len(some) - 1))).tolist()]


class Coordinate(NamedTuple):
    """A coordinate of the point, compared with the prototypes'."""

    overflows: bool  # whether the difference may exceed a byte and look small if truncated
    largest_square: int  # of the difference, or of its byte


def coordinates_of(stage: IntegerPrototypes) -> tuple[Coordinate, ...]:
    """Return the ranges of each coordinate for the range of the stage's inputs."""
    coordinates, feed = [], stage.feed
    limits = zip(stage.prototypes.tolist(), feed.low.tolist(), feed.high.tolist(), strict=True)
    for residuals, least, most in limits:
        below, above = most - min(residuals), max(residuals) - least
        wraps = [256 - size for size, largest in ((below, 128), (above, 127)) if size > largest]
        overflows = any(size**2 < stage.distance_limit for size in wraps)
        square = min(128, max(below, above)) ** 2
        coordinates.append(Coordinate(overflows, square))
    return tuple(coordinates)


kernels = PrototypesKernel.of
