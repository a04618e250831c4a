"""Certificates: claims about a build, each with its evidence."""
