"""Classifiers based on similarities to basis images."""
