"""Names of a window's samples: those of its channels, each with the sample's number."""

from __future__ import annotations

from collections.abc import Sequence


def sample_names(channels: Sequence[str], window: int) -> tuple[str, ...]:
    """Return the names of a window's samples, such as ``ax[0]``, sample by sample.

    Parameters
    ----------
    channels : sequence of C str
        The names of the channels, or none.
    window : int
        Samples of a channel.

    Returns
    -------
    tuple of window * C str
    """
    return tuple(f"{name}[{sample}]" for sample in range(window) for name in channels)


def channel_names(names: Sequence[str], channels: int) -> tuple[str, ...]:
    """Return the channels' names that `sample_names` was given, or none if it made no such names.

    Parameters
    ----------
    names : sequence of str
        Of all features of a model or a data set.
    channels : int
        How many there are.
    """
    first = names[:channels]
    found = tuple(name.removesuffix("[0]") for name in first)
    if len(found) != channels or not all(name.endswith("[0]") for name in first):
        return ()
    made = sample_names(found, len(names) // channels)
    return found if made == tuple(names) else ()
