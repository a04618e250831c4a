"""Gaussian naive Bayes: each score is a sum of weighted squared distances from class means."""
