"""A sketch of training rows says which share of other rows is among them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from protonn_edge.datasets.row_sketch import SKETCH_SIZE, RowSketch, row_hashes
from protonn_edge.errors import InputError


def rows(seed: int, n: int, features: int = 6) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, features)).astype(np.float32)


def test_few_rows_are_all_kept_and_the_share_is_exact() -> None:
    known, new = rows(1, 900), rows(2, 100)
    found = RowSketch.of([known]).overlap(np.concatenate([known[:300], new]))
    assert (found.n, found.compared, found.known) == (400, 400, 300)
    assert str(found) == "75.0 % of the 400 points"


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_of_many_rows_the_share_is_estimated_within_its_error(share: float) -> None:
    known, new = rows(1, 20_000), rows(2, 5_000)
    part = int(5_000 * share)
    found = RowSketch.of([known]).overlap(np.concatenate([known[:part], new[part:]]))
    assert 150 < found.compared < 400  # a twentieth of 5,000
    assert found.known / found.compared == pytest.approx(
        share, abs=4 * np.sqrt(share * (1 - share) / 250)
    )
    assert str(found).startswith("about ")


def test_a_few_rows_may_repeat_by_chance() -> None:
    known, new = rows(1, 900), rows(2, 95)
    sketch = RowSketch.of([known])
    assert not sketch.overlap(np.concatenate([known[:5], new])).notices()
    assert sketch.overlap(np.concatenate([known[:6], new])).notices()


def test_the_order_and_the_blocks_of_rows_do_not_matter() -> None:
    known = rows(1, 5_000)
    whole = RowSketch.of([known]).hashes
    assert len(whole) == SKETCH_SIZE
    blocks = np.array_split(np.random.default_rng(3).permutation(known), 7)
    assert np.array_equal(RowSketch.of(blocks).hashes, whole)
    first, last = RowSketch.of([known[:3_000]]), RowSketch.of([known[2_000:]])
    assert np.array_equal(first.merged(last).hashes, whole)


def test_rows_that_differ_in_any_way_have_other_hashes() -> None:
    bits = ((np.arange(1 << 14)[:, None] >> np.arange(14)) & 1).astype(np.float32)
    assert len(np.unique(row_hashes(bits))) == len(bits)
    assert len(np.unique(row_hashes(np.eye(40, dtype=np.float32)))) == 40
    assert row_hashes(np.float32([[0.0, 1.0]])) == row_hashes(np.float32([[-0.0, 1.0]]))
    assert row_hashes(np.float32([[0.0, 1.0]])) != row_hashes(np.float32([[1.0, 0.0]]))


def test_hashes_are_the_same_on_all_machines() -> None:
    assert row_hashes(np.float32([[1.5, -2.0]])).tolist() == [11977191142035040646]


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(0, np.uint64),
        np.zeros((1, 2), np.uint64),
        np.array([3, 2], np.uint64),
        np.array([3.0]),
        np.arange(SKETCH_SIZE + 1, dtype=np.uint64),
    ],
)
def test_a_damaged_array_is_refused(array: np.ndarray) -> None:
    with pytest.raises(InputError, match="'training_rows'"):
        RowSketch.of_arrays(array, None)


@pytest.mark.parametrize("bits", [np.zeros((1, 2), np.uint8), np.zeros(3)])
def test_damaged_bits_of_rows_held_out_are_refused(bits: np.ndarray) -> None:
    with pytest.raises(InputError, match="'held_out'"):
        RowSketch.of_arrays(np.array([1], np.uint64), bits)


def test_rows_held_out_are_found_only_in_the_divided_data() -> None:
    data = rows(1, 3_000)
    chosen = np.arange(3_000) % 4 == 1
    sketch = replace(RowSketch.of([data[~chosen]]), held_out=np.packbits(chosen))
    found = sketch.held_out_of(data)
    assert found is not None
    assert np.array_equal(found, chosen)
    assert sketch.held_out_of(data[:-9]) is None
    assert sketch.held_out_of(data[::-1]) is None
    assert sketch.held_out_of(data[:0]) is None
    assert sketch.held_out_of(rows(2, 3_000)) is None
    assert RowSketch(sketch.hashes).held_out_of(data) is None
