"""Gaussian naive Bayes, whose scores are sums of weighted squared distances from class means."""
