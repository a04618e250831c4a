"""The variant of ProtoNN that learns normal points alone."""
