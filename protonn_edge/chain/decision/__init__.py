"""The decision that follows from scores: a class, or rejection."""
