"""The tables and figures of the ProtoNN paper, a module each."""
