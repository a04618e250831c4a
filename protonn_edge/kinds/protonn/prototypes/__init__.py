"""The prototypes: scores computed from a point's distances to them."""
