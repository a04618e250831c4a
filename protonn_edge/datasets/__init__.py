"""Read labelled data: .npz, libsvm text, .csv and .tsv tables, folders of the reference layout."""

from __future__ import annotations

from protonn_edge.datasets.columns import TableOptions
from protonn_edge.datasets.dataset import Dataset, holdout
from protonn_edge.datasets.groups import group_numbers, with_groups
from protonn_edge.datasets.label_sets import MultiLabelDataset
from protonn_edge.datasets.notices import Notice
from protonn_edge.datasets.one_class import hold_out_normal, of_normal_points
from protonn_edge.datasets.reading import load_dataset, load_held_out_points, load_points
from protonn_edge.datasets.shipped import load_digits_dataset

__all__ = [
    "Dataset",
    "MultiLabelDataset",
    "Notice",
    "TableOptions",
    "group_numbers",
    "hold_out_normal",
    "holdout",
    "load_dataset",
    "load_digits_dataset",
    "load_held_out_points",
    "load_points",
    "of_normal_points",
    "with_groups",
]
