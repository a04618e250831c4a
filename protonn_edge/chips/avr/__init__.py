"""Sizes of a linked AVR program, the worst case of its stack, and its spans without interrupts.

This package needs only the ELF file: `program.read_program` reads it, `stack.worst_case_stack` and
`interrupts.masked_spans` follow its machine code.
"""
