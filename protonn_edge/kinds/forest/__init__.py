"""Forests of decision trees: integers, tables in flash, and the walk through them."""
