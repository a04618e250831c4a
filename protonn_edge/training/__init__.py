"""Training, for all kinds of classifiers; what is of one kind alone is in the kind's folder."""
