"""Research: the optimizer of the ProtoNN paper, Bonsai, basis images, and builds in floats.

See `docs/research.md` and `docs/kinds.md`.
"""
