"""Training of dense layers."""
