"""Sets of labels: a model that ranks its labels, and answers with those above a threshold."""
