"""Certificates: what is claimed of a build, and what shows each claim."""
