"""Read labelled data: .npz, libsvm text, .csv and .tsv tables, folders of the reference layout."""
