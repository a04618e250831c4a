"""What a linked AVR program takes: sizes, the worst case of its stack, spans without interrupts.

It needs the ELF file alone, and nothing of the rest of this package: `program.read_program` reads
the file, `stack.worst_case_stack` and `interrupts.masked_spans` follow its machine code.
"""
