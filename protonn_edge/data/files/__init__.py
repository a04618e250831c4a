"""Files other than tables: arrays in .npz, and libsvm text."""
