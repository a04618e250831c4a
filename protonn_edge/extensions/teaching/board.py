"""The host's part of teaching a board: models with taught examples, and the board's store.

A board stores its examples in EEPROM. `templates/teaching/examples.j2` writes them so that the
board later reads either the old or the new examples, whenever power is cut::

    format, hash of the model (8), hidden          format is 0xFF until all else is written
    for each slot: class, point (d), CRC (2)       class is 0xFF in an empty slot

A record is valid if its class exists, its CRC is right, and it is not hidden. The byte `hidden`
hides one slot by its number, all records of class l by the number of slots plus l, all records by
0xFE, and none by 0xFF. There is one slot more than examples; if the records of all slots are valid,
the first one is ignored.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.data.points.dataset import Float32
from protonn_edge.extensions.teaching.examples import CRC_BYTES, Store, Taught, Teaching
from protonn_edge.learn.given_points import checked_points
from protonn_edge.model.integer_chain import MODEL_HASH_BYTES, IntegerChain, coordinates
from protonn_edge.model.integer_stage import IntegerStage
from protonn_edge.model.quantization import quantize
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InvalidValue

EMPTY = 0xFF  # an erased byte


def teachable_stage(model: IntegerChain) -> tuple[Any, Teaching]:
    """Return a teachable model's last stage and limits; `InputError` if it cannot be taught.

    The stage is an `IntegerStage` whose `voters` are these limits.
    """
    last = model.own_stages[-1]
    teaching = getattr(last, "voters", None)
    if not isinstance(teaching, Teaching):
        raise InvalidValue(
            "the model",
            "no room for taught examples",
            "train one with --classifier protonn and --teachable N",
        )
    return last, teaching


def with_taught(model: IntegerChain, taught: Taught) -> IntegerChain:
    """Return the integer model of a board that has been taught these examples.

    Raises `InputError` if the model cannot be taught, or has no room or no class for them.
    """
    last, teaching = teachable_stage(model)
    last = replace(last, voters=replace(teaching, taught=taught))
    return replace(model, own_stages=(*model.own_stages[:-1], last))


def after_teaching(model: IntegerChain, Q: NDArray[np.uint8], y: NDArray[np.int64]) -> IntegerChain:
    """Return the model of a board after teaching it points Q (n, features) of classes y, too.

    If there is no room, the points replace others, as on the board.
    """
    last, teaching = teachable_stage(model)
    taught = teaching.taught or Taught.nothing(last.n_inputs)
    for point, label in zip(coordinates(model, Q), y.tolist(), strict=True):
        taught = taught.learn(point, label, teaching.room)
    return with_taught(model, taught)


@dataclass(frozen=True, eq=False)
class TaughtBoard:
    """A board after teaching; its integer model answers for raw points X (n, D)."""

    model: IntegerChain

    def scores(self, X: Float32) -> NDArray[np.float64]:
        """Return the scores (n, L), in units of the float scores."""
        return self.model.scores(self._quantized(X)).astype(np.float64) * self.model.score_scale

    def predict(self, X: Float32) -> NDArray[np.int64]:
        """Return the indices (n,) of the answers."""
        return self.model.predict(self._quantized(X))

    def _quantized(self, X: Float32) -> NDArray[np.uint8]:
        return self.model.quantize(X)


def taught_board(classifier: Any, X: ArrayLike, y: ArrayLike) -> TaughtBoard:
    """Return a device with a fitted classifier's model, after teaching it raw points X, too."""
    model = classifier.to_model()
    points = checked_points(classifier, X, "X", reset=False)
    targets = classifier.indices_of(y, len(points))
    before: TaughtBoard | None = classifier.on_device_
    taught = quantize(model) if before is None else before.model
    return TaughtBoard(after_teaching(taught, taught.quantize(points), targets))


def store_of(model: IntegerChain) -> Store:
    """Return the layout of the store in EEPROM."""
    last, teaching = teachable_stage(model)
    return teaching.store(last.n_inputs)


def stored(model: IntegerChain, taught: Taught) -> bytes:
    """Return the content of a board's store with these examples; unused bytes are erased."""
    with_taught(model, taught)  # refuses examples that do not fit the model
    examples = np.column_stack([taught.classes, taught.points.view(np.uint8)])
    records = (content + _crc(store_of(model), content) for content in map(bytes, examples))
    content = _start(model) + bytes([EMPTY]) + b"".join(records)
    return content.ljust(store_of(model).size, bytes([EMPTY]))


def recalled(model: IntegerChain, content: bytes) -> Taught:
    """Return the examples in the content of a board's store, which may be arbitrary bytes.

    There are none if the store belongs to another model.
    """
    (last, teaching), store = teachable_stage(model), store_of(model)
    check(
        len(content) == store.size,
        "the store",
        f"{len(content)} B",
        f"{store.size}",
        "read the store from a board that runs this model",
    )
    records = []
    if content[: store.hidden] == _start(model):
        records = list(_records(last, teaching, content))
    if len(records) == teaching.slots:
        hidden = content[store.hidden]
        del records[hidden if hidden < teaching.slots else 0]
    examples = np.frombuffer(b"".join(records), np.uint8).reshape(len(records), 1 + last.n_inputs)
    return Taught(examples[:, 1:].copy().view(np.int8), examples[:, 0].copy())


def _start(model: IntegerChain) -> bytes:
    """Return the bytes before the number of the hidden slot or class."""
    beginning = bytes.fromhex(model.model_sha256)[:MODEL_HASH_BYTES]
    return bytes([store_of(model).format]) + beginning


def _records(stage: IntegerStage, teaching: Teaching, content: bytes) -> Iterator[bytes]:
    """Yield the class and point of each valid record of a store."""
    store = teaching.store(stage.n_inputs)
    hidden = content[store.hidden]
    for slot in range(teaching.slots):
        record = content[store.header + slot * store.record :][: store.record]
        example, label = record[:-CRC_BYTES], record[0]
        visible = hidden not in (teaching.slots + label, store.all_hidden)
        if visible and label < stage.n_outputs and _crc(store, example) == record[-CRC_BYTES:]:
            yield example


def _crc(store: Store, example: bytes) -> bytes:
    """Return CRC-16/CCITT (polynomial 0x1021, not reflected) of a class and a point."""
    start = store.crc_start << 8 | example[0]
    return binascii.crc_hqx(example[1:], start).to_bytes(CRC_BYTES, "big")
