"""Forests that predict a number: one score, the sum of what the reached leaves stand for."""
