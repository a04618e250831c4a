"""Gaussian naive Bayes: scores that are sums of weighted squared distances from class means."""
