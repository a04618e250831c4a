"""Training, for all kinds of classifiers; the code of one kind is in the kind's folder."""
