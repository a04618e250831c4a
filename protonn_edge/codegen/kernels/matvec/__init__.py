"""The product of a matrix and bytes that are pushed one after the other, shared by stages."""
