"""ProtoNN's part of teaching: taught examples vote beside its prototypes."""
