"""The base classes and a decorator of scikit-learn, with the types that it does not declare.

An estimator of an untyped base is anything to mypy: neither the arguments of its constructor nor
what its methods return would be checked, here and in programs that use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self, TypeVar

    from numpy.typing import ArrayLike

    Method = TypeVar("Method", bound=Callable[..., Any])

    class BaseEstimator:
        """Has parameters, which are the arguments of its constructor."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...  # noqa: D102
        def set_params(self, **params: object) -> Self: ...  # noqa: D102
        def __sklearn_tags__(self) -> Any: ...

    class _WithScore:
        def score(
            self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
        ) -> float: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin(_WithScore):
        """Its score is the accuracy."""

    class RegressorMixin(_WithScore):
        """Its score is R2."""

    class TransformerMixin:
        """Fits and transforms."""

        def fit_transform(self, X: ArrayLike, y: object = None, **options: object) -> Any: ...  # noqa: D102
        def set_output(self, *, transform: str | None = None) -> Self: ...  # noqa: D102

    def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
        """Let an estimator have a method only if a check returns True."""
        ...

else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        RegressorMixin,
        TransformerMixin,
    )
    from sklearn.utils.metaestimators import available_if

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "RegressorMixin",
    "TransformerMixin",
    "available_if",
]
