"""Training of Bonsai and local deep kernels."""
