"""A tree whose nodes add gated sums to the scores: integers, tables in flash, the walk."""
