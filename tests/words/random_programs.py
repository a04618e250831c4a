"""Random chains of all kinds, as the C for chips of 32 bits."""

from __future__ import annotations

from collections.abc import Iterable

import click
import numpy as np
from random_chains import points_of, random_chain

from protonn_edge.chips.cores import WORD_CORES
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.words import plan_for
from protonn_edge.model.integer_chain import IntegerChain
from words.chips import CHIPS, emulated

SETTINGS = tuple((name, optimize) for name in CHIPS for optimize in ("-O2", "-Os"))
HERE = ("host", "")
_POINTS = 20


def differing(seed: int, *settings: tuple[str, str]) -> int:
    """Return how many points of a random program differ, on chips and at levels of optimization.

    `HERE` is this computer, under sanitizers.
    """
    rng = np.random.default_rng(seed)
    chain, _ = random_chain(rng)
    points = points_of(rng, _POINTS, chain)
    chips = [each for each in settings if each != HERE]
    wrong = _differing_here(chain, points) if HERE in settings else 0
    return wrong + sum(
        emulated(CHIPS[name], chain, points, level).differing for name, level in chips
    )


def _differing_here(chain: IntegerChain, points: np.ndarray) -> int:
    plan = plan_for(chain, WORD_CORES[CHIPS["m0"].core])
    with host_program(chain, plan, sanitize=True) as program:
        classes, scores = program.run(points)
    same = (scores == chain.scores(points)).all(axis=1) & (classes == chain.predict(points))
    return int(np.count_nonzero(~same))


def run(seeds: Iterable[int], *, every: bool) -> tuple[int, int]:
    """Return how many programs were run, and how many points differ.

    Each program runs in the next of the `SETTINGS`, or in every one, and here.
    """
    programs = wrong = 0
    for seed in seeds:
        some = (*SETTINGS, HERE) if every else (SETTINGS[seed % len(SETTINGS)],)
        found = differing(seed, *some)
        if found:
            click.echo(f"seed {seed}: {found} points differ")
        programs += 1
        wrong += found
    return programs, wrong
