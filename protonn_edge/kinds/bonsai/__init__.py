"""A tree with nodes that add gated sums to the scores: integers, tables in flash, the walk."""
