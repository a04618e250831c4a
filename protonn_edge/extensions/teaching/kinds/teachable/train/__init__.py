"""How ProtoNN is trained for a device that will be taught."""
