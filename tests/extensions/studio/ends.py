"""A stand-in that gives ends of commands to the page without running any."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from protonn_edge.extensions.studio.jobs import Jobs


@dataclass(frozen=True)
class End:
    """An exit code, and the JSON object that was printed."""

    code: int
    record: Mapping[str, Any]

    def lines(self) -> Iterator[str]:
        return iter(())

    def wait(self) -> int:
        return self.code

    def stop(self) -> None:
        """It has ended."""

    kill = stop


class StandIn:
    """Takes the place of a `Launcher`: each action ends as it is told to, else well."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self.ends: Mapping[str, End] = {}

    def run(self, _: Sequence[str], printed: int) -> End:
        """Print the record of the action's end."""
        end = self.ends.get(self._jobs.latest["action"], End(0, {"notices": []}))
        os.write(printed, json.dumps(end.record).encode())
        return end

    def close(self) -> None:
        """Nothing runs."""
