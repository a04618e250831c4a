"""ProtoNN as in its paper: the optimizer that trains Z, B and W in turn, and other losses.

See `docs/research.md`.
"""
