"""A lost scheduler was a bug or a wrong file."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from protonn_edge.learn.search.cluster import DaskWorkers
from protonn_edge.system.errors import CheckFailed

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:distributed")


@pytest.fixture
def scheduler() -> Iterator[str]:
    """Give the address of a cluster of one worker, in this process."""
    distributed = pytest.importorskip(  # which takes half a second in each process
        "distributed", reason="needs dask; to run: pip install 'protonn-edge[dask]'"
    )
    quiet = {"dashboard": False, "dashboard_address": ":0"}
    worker = {"cls": distributed.Worker, "options": {"nthreads": 1} | quiet}
    options = {"cls": distributed.Scheduler, "options": {"host": "127.0.0.1", "port": 0} | quiet}
    with distributed.SpecCluster({"lab": worker}, options) as made:
        yield made.scheduler_address


def test_a_lost_scheduler_is_named(scheduler: str, tmp_path: Path) -> None:
    (tmp_path / "search.jsonl").touch()
    file = cast("Any", SimpleNamespace(path=tmp_path / "search.jsonl"))
    with DaskWorkers(cast("Any", "an objective"), file, scheduler) as workers:
        workers._client.close()  # as it does itself without its scheduler
        with pytest.raises(CheckFailed, match="the Dask scheduler at tcp://.* no longer"):
            workers.submit(0)
    for name in ("distributed.client", "distributed.core", "tornado.application"):
        assert not logging.getLogger(name).isEnabledFor(logging.ERROR)
