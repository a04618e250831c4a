"""Objects shown in Python as one line in a terminal, or as a small table in a notebook."""

from __future__ import annotations

from abc import abstractmethod
from html import escape


class FactsRepr:
    """Base of classes, also dataclasses, whose repr shows facts instead of all arrays."""

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):  # so that a dataclass does not generate one
            cls.__repr__ = FactsRepr.__repr__  # type: ignore[method-assign]

    @abstractmethod
    def facts(self) -> dict[str, str]:
        """Return the most important facts, by name."""

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}: {value}" for name, value in self.facts().items())
        return f"<{type(self).__name__} {inside}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
            for name, value in self.facts().items()
        )
        return f"<table><caption>{type(self).__name__}</caption>{rows}</table>"
