"""The prototypes: scores by the distances of a point from them."""
