"""Weighted basis images: a student weights learned images so that a teacher recognizes their sum.

After H. Menon, "Weighted Basis Images: Learning Alternative Data Representations" (2021). A device
gets the student and a small classifier of its weights; see docs/basis-images.md.
"""
