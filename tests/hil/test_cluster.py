"""Boards at the workers of a Dask cluster share a run, and one that is lost leaves its points."""

from __future__ import annotations

import threading
from functools import partial

import numpy as np
import pytest

from protonn_edge.device import ReferenceAnswers, protocol, run
from protonn_edge.device.cluster import ClusterSession
from protonn_edge.device.connection import LinkError
from protonn_edge.errors import InputError

distributed = pytest.importorskip(
    "distributed", reason="needs dask; to run: pip install 'protonn-edge[dask]'"
)
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:distributed")

Q = np.random.default_rng(1).integers(0, 256, (200, 4), np.uint8)
Y = np.zeros(len(Q), np.int64)
WORKERS = ("left", "right")
DEADLINE_S = 60.0


@pytest.fixture
def cluster():
    """Give a cluster of two workers, in this process."""
    quiet = {"dashboard": False, "dashboard_address": ":0"}
    options = {"cls": distributed.Worker, "options": {"nthreads": 1} | quiet}
    scheduler = {"cls": distributed.Scheduler, "options": {"host": "127.0.0.1", "port": 0} | quiet}
    with distributed.SpecCluster(dict.fromkeys(WORKERS, options), scheduler) as made:
        yield made


def session_on(cluster, worker, device, **options):
    """Return a session with a device at a worker."""
    scheduler = cluster.scheduler_address.removeprefix("tcp://")
    return ClusterSession(f"dask://{scheduler}/{worker}@{device.url}", **options)


def test_the_other_worker_answers_what_one_leaves(cluster, make_device):
    began, gone = threading.Barrier(2), threading.Event()
    once = {name: threading.Lock() for name in WORKERS}

    def answer(name, body):
        """Let both take points, and the right one wait until the left one is gone."""
        if body[0] == protocol.SCORES and once[name].acquire(blocking=False):
            began.wait(DEADLINE_S)
            assert name == "left" or gone.wait(DEADLINE_S)

    devices = [make_device(answer=partial(answer, name)) for name in WORKERS]
    expected = np.array([devices[0].scores(row.tobytes()) for row in Q], np.int64)
    arrived = []

    def lose_the_left(result):
        arrived.append(result.index)
        if not gone.is_set():
            cluster.sync(cluster.workers["left"].close, nanny=False)
            gone.set()

    with (
        session_on(cluster, "left", devices[0]) as left,
        session_on(cluster, "right", devices[1]) as right,
    ):
        done = run([left, right], Q, Y, ReferenceAnswers(expected), sink=lose_the_left)
    assert sorted(arrived) == list(range(len(Q)))
    assert {each.mismatch for each in done.results} == {False}
    assert [each.device for each in done.shares] == [left.url, right.url]
    lost, kept = done.shares
    assert lost.loss == "the cluster has no worker left; start it, or correct its name"
    assert lost.n + kept.n == len(Q)
    assert kept.stats.resets >= 1


def test_a_lost_board_is_one_of_its_worker(cluster, make_device):
    device = make_device()
    with session_on(cluster, "right", device, handshake_s=2) as session:
        assert session.predict(Q[0]).scores is None
        assert session.device.features == 4
        device.close()
        with pytest.raises(LinkError, match="board is plugged in"):
            session.predict(Q[0])


def test_wrong_names_are_refused(cluster, make_device):
    with pytest.raises(InputError, match="give it as dask://HOST:PORT/WORKER@URL"):
        ClusterSession("dask://lab/dev/ttyACM0").__enter__()
    with pytest.raises(LinkError, match="the cluster has no worker middle"):
        session_on(cluster, "middle", make_device()).__enter__()
