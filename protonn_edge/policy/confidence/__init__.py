"""Confidence: the probability of the answer, from the softmax of the scores."""
