"""Labelled points, what prepared their features, and how a file was divided into parts."""
