"""Networks with hidden layers: matrix products with rectified sums that become bytes."""
