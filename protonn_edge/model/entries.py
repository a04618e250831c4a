"""What the folder of a kind of classifier or feature brings to the registry.

A folder lists its entries in its ``__init__.py``, which imports nothing else of the package, so
that the command line can list all kinds without importing their arithmetic.
"""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of classifier, listed in ``KINDS`` of its folder."""

    name: str  # in files and on the command line
    prefix: str  # how the names of its classes begin
    place: int  # in lists of kinds; the first one is the default
    # the module of its estimator, in the folder; "" if its models are made of others
    training: str = "train"
    # whether the kind has its own models, and not only an estimator that trains another kind's
    has_models: bool = True
    # whether it trains without scikit-learn, by a learner; otherwise, the estimator is its learner
    has_learner: bool = False


class Variant(NamedTuple):
    """A kind of classifier with more parameters, listed in ``VARIANTS`` of its folder.

    Its classes derive from the kind's, and are found if a parameter is not the kind's own.
    """

    kind: str
    prefix: str  # how the names of its classes begin


class Requested(NamedTuple):
    """The requests for a kind of feature in training, listed in ``REQUESTS`` of its folder."""

    request: str  # their class, as "module:Class" in the folder
    place: int  # in the order in which a search tries kinds of features
