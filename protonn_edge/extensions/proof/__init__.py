"""The proof that a linked program computes a model's scores and class for every input.

One symbolic execution of the machine code (`exploration`, `machine`) gives every byte as a part of
a sum of tables (`forms`), which is compared with the model's own sums (`equality`). Modules `proof`
in the folders of stages state these.
"""
