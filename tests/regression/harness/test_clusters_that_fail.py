"""A worker that hangs stopped `hil` for ever, and a lost scheduler was a bug or a wrong file."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pytest

from protonn_edge.device import cluster as of_cluster
from protonn_edge.device import protocol
from protonn_edge.device.cluster import ClusterSession
from protonn_edge.device.connection import LinkError
from protonn_edge.device.exchange import RetryPolicy
from protonn_edge.errors import CheckFailed
from protonn_edge.tuning.workers import DaskWorkers

distributed = pytest.importorskip(
    "distributed", reason="needs dask; to run: pip install 'protonn-edge[dask]'"
)
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:distributed")

Q = np.zeros(4, np.uint8)
LOST = "the Dask scheduler at tcp://.* no longer answers"


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Give a cluster of one worker, in this process."""
    quiet = {"dashboard": False, "dashboard_address": ":0"}
    worker = {"cls": distributed.Worker, "options": {"nthreads": 1} | quiet}
    scheduler = {"cls": distributed.Scheduler, "options": {"host": "127.0.0.1", "port": 0} | quiet}
    with distributed.SpecCluster({"lab": worker}, scheduler) as made:
        yield made


def session_on(cluster: Any, device: Any) -> ClusterSession:
    """Return a session with a device at the worker."""
    scheduler = cluster.scheduler_address.removeprefix("tcp://")
    return ClusterSession(f"dask://{scheduler}/lab@{device.url}")


def test_a_frozen_worker_is_lost(
    make_device: Any, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = threading.Event()

    def freeze(body: bytes) -> None:
        if body[0] == protocol.PREDICT:
            goes_on.wait(60)

    for name in ("_LOOK_AGAIN_S", "_CLOSING_S"):
        monkeypatch.setattr(of_cluster, name, 0.05)
    with session_on(cluster, make_device(answer=freeze)) as session:
        heartbeat = cluster.workers["lab"].periodic_callbacks["heartbeat"]
        cluster.loop.add_callback(heartbeat.stop)
        session._silent_s = 2.0  # also for the scheduler, however busy this computer is
        with pytest.raises(LinkError, match=r"worker lab has sent no heartbeat for 2 s"):
            session.predict(Q)
        session.close()
        goes_on.set()


GOES_ON = threading.Event()


def wait_for_its_end(*_: object) -> bool:
    """Wait as a task; tasks are pickled, so an event of a test could not be in it."""
    return GOES_ON.wait(60)


def test_a_worker_whose_task_never_ends_is_lost(
    make_device: Any, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_LOOK_AGAIN_S", "_CLOSING_S"):
        monkeypatch.setattr(of_cluster, name, 0.05)
    with session_on(cluster, make_device()) as session:
        GOES_ON.clear()
        monkeypatch.setattr(of_cluster, "_replies", wait_for_its_end)
        # 30 s more, the time of a lost heartbeat, are a moment.
        monkeypatch.setattr(session, "_policy", RetryPolicy(0.1, 1, progress_s=-29.7))
        with pytest.raises(LinkError, match=r"worker lab has not finished a task within 0\.3\d* s"):
            session.predict(Q)
        GOES_ON.set()


def test_a_lost_scheduler_is_named(make_device: Any, cluster: Any) -> None:
    with session_on(cluster, make_device()) as session:
        session._client.close()  # as it does itself without its scheduler
        with pytest.raises(CheckFailed, match=LOST):
            session.predict(Q)
    with DaskWorkers(cast("Any", "points"), cluster.scheduler_address) as workers:
        workers._client.close()
        for step in (workers.renew, lambda: workers.submit(cast("Any", "a fold"))):
            with pytest.raises(CheckFailed, match=LOST):
                step()
    for name in ("distributed.client", "distributed.core", "tornado.application"):
        assert not logging.getLogger(name).isEnabledFor(logging.ERROR)
