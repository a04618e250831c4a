"""protonn-edge: from labelled data to a classifier measured on an Arduino Uno.

Names are found when one is used, so that `__main__` is reached, and heeds Ctrl-C, without imports.
"""

from __future__ import annotations

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    from protonn_edge.model.registry import EXPORTS
    from protonn_edge.system.lazy import lazy_names

    names, get, listed = lazy_names(__name__, EXPORTS)
    globals().update(__all__=names, __getattr__=get, __dir__=listed)
    return names if name == "__all__" else get(name)


def __dir__() -> list[str]:
    return [*globals(), *__getattr__("__all__")]  # type: ignore[misc]
