"""Weighted basis images: a student weights learned images so that a teacher recognizes the sum.

After H. Menon, "Weighted Basis Images: Learning Alternative Data Representations" (2021). The
device gets the student and a small classifier of the student's weights; see docs/research.md.
"""
