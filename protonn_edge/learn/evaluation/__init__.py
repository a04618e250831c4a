"""Measure devices, and gather the data of reports."""
