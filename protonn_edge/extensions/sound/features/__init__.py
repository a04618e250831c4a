"""The stage that computes features of sound."""
