"""The part of basis images in the checks of all kinds: their model is a network's."""

from __future__ import annotations

from dataclasses import replace

from kinds import dense

from protonn_edge.extensions.research.kinds.basis_images.train.classifier import (
    BasisImagesClassifier,
)

_STUDENT = ("--image-shape", "8x8", "--features", "conv:4x3/2")
_BRIEF = ("--teacher-epochs", "2", "--network-epochs", "6", "--epochs", "15")
_QUICK = ("--teacher-epochs", "2", "--network-epochs", "4", "--epochs", "15")
_SMALL = (*_STUDENT, *_BRIEF, "--basis-images", "4", "--image-parts", "2x1", "--hidden", "10")

KIND = replace(
    dense.KIND,
    classifier=BasisImagesClassifier,
    model="dense",
    stage="dense",
    images_only=True,
    settings={
        "image_shape": (8, 8),
        "features": "conv:4x3/2",
        "teacher_epochs": 2,
        "basis_images": 8,
        "network_epochs": 6,
        "network_moved_share": 0.0,
        "epochs": 15,
    },
    accuracy=0.8,
    own_settings={"teacher": "6x3/2", "similarity": 0.2, "hidden": "7"},
    facts={"trainer": "adam", "teacher_parameters": 610},
    variants={"basis-images": _SMALL},
    flags={
        "--basis-images": "4",
        "--image-parts": "2x1",
        "--teacher": "9x3/2",
        "--teacher-epochs": "3",
        "--similarity": "0.2",
        "--network-epochs": "7",
        "--hidden": "12",
        "--epochs": "16",
        "--features": "conv:5x3,max2",
        "--image-shape": "8x8",
    },
    tuning=(*_STUDENT, *_QUICK, "--trials", "1", "--max-latency-ms", "4"),
    refused_settings=(
        ({"features": None}, "basis images need a student; give its layers"),
        ({"image_shape": None}, "the shape of the image is not given"),
        ({"image_parts": (5, 5)}, "parts: 200 weights, expected at most 128"),
        ({"image_parts": (0, 1)}, "image_parts: .0, 1., expected a number"),
        ({"basis_images": 129}, "'basis_images' parameter of BasisImagesClassifier"),
        ({"teacher": "8x4"}, "the layer '8x4' is unknown"),
        ({"teacher": object()}, "the teacher is a object; give a fitted MLPClassifier"),
        ({"features": "pool:4x4"}, "basis images need a student; give its layers"),
    ),
)
