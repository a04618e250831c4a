"""The kinds of classifiers, one folder each."""
