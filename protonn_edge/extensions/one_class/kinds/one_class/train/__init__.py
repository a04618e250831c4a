"""How ProtoNN learns from normal points alone."""
