"""How ProtoNN is trained by the algorithm of its paper."""
