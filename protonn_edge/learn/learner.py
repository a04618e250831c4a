"""What learns a classifier's head from points, and nothing else of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from protonn_edge.learn.points import Points
from protonn_edge.learn.progress import Learned


class Learner(ABC):
    """The training of one kind of head, with settings.

    - `settings`: parameters of the kind; their callback is called after each epoch.
    - `seed`: of all random choices.
    """

    def __init__(self, settings: Any, seed: int) -> None:
        self.settings, self.seed = settings, seed

    @abstractmethod
    def fit(self, points: Points) -> Learned:
        """Learn from normalized points; return the head with a record of the training."""
