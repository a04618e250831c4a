"""The kinds of classifiers, a folder each."""
