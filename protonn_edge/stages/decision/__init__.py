"""The answer that follows from scores: a class, or unknown."""
