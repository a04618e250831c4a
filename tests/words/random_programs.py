"""Random chains of all kinds, as the C for chips of 32 bits."""

from __future__ import annotations

from collections.abc import Iterable

import click
import numpy as np
from random_chains import points_of, random_chain

from words.chips import CHIPS, emulated

SETTINGS = tuple((name, optimize) for name in CHIPS for optimize in ("-O2", "-Os"))
_POINTS = 20


def differing(seed: int, *settings: tuple[str, str]) -> int:
    """Return how many points of a random program differ, on chips and at levels of optimization."""
    rng = np.random.default_rng(seed)
    chain, _ = random_chain(rng)
    points = points_of(rng, _POINTS, chain)
    return sum(emulated(CHIPS[name], chain, points, level).differing for name, level in settings)


def run(seeds: Iterable[int], *, every: bool) -> tuple[int, int]:
    """Return how many programs were run, and how many points differ.

    Each program runs in the next of the `SETTINGS`, or in every one.
    """
    programs = wrong = 0
    for seed in seeds:
        some = SETTINGS if every else (SETTINGS[seed % len(SETTINGS)],)
        found = differing(seed, *some)
        if found:
            click.echo(f"seed {seed}: {found} points differ")
        programs += 1
        wrong += found
    return programs, wrong
