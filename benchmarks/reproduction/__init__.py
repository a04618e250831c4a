"""The tables and figures of the ProtoNN paper, one module each."""
