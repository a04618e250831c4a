"""Classifiers of similarities to basis images."""
