"""The class from the scores."""
