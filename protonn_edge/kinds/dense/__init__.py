"""Networks with hidden layers: matrix products whose rectified sums become bytes."""
