"""ProtoNN that predicts a number: one score, the sum of what its prototypes stand for."""
