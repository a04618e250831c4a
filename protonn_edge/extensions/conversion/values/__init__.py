"""Conversion of models that predict a number."""
