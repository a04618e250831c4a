"""A number in place of a class: the only score of a model stands for it; see `docs/values.md`."""
