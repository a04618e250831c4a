"""Training of forests."""
