"""The loop over taught examples, proven for any examples that a device may have.

A key is a squared distance with a class, as a number. In front of each slot, the list has the least
keys of the near examples in the slots before it, in order, and its last distance is the limit for
the next one. The proof is in five parts: this holds in front of the first slot; a slot changes
nothing, or its example has a class and is no farther than the limit; such an example is inserted
behind all keys of the list that are not larger; the votes are doubled if and only if the listed
examples have one class; and each entry of the list adds its votes.

Slots, coordinates, classes and distances may have any values, so one slot stands for all.
"""
