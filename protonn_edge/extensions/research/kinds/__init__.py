"""Kinds of classifiers that research compares with the others."""
