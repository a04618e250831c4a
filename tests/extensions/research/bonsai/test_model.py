"""The float models: their scores, what they refuse, and their files."""

from __future__ import annotations

import pytest
from chains import replace
from extensions.research.bonsai_factory import random_kernel_model

from protonn_edge.model.head import matrices_of
from protonn_edge.system.errors import InputError


def test_a_kernel_has_no_projection() -> None:
    model = random_kernel_model(features=12)
    assert set(matrices_of(model.head)) == {"W", "V", "T"}
    with pytest.raises(InputError, match="normalizer_scale: 11 features, expected 12"):
        replace(model, normalizer=random_kernel_model(features=11).normalizer)
