"""Weighted basis images: a student's weights of learned images, on whose sums a teacher is right.

After H. Menon, "Weighted Basis Images: Learning Alternative Data Representations" (2021). What a
device gets is the student and a small classifier of its weights; see docs/basis-images.md.
"""
