"""The variant of ProtoNN whose models can be taught."""
