"""Read labelled data: .npz, libsvm text, .csv and .tsv tables, folders of the reference layout.

`reading` is the entry, and `formats` chooses the reader. From text to labelled points, the way goes
through `tables` (cells become columns), `roles` (columns become features and labels) and `points`.
"""
