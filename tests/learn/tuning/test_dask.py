"""On a Dask cluster a search finds what it finds here, also when a worker is killed."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import socket
import subprocess
import sys
import time
from dataclasses import replace
from importlib.util import find_spec

import pytest
from programs import started
from refusals import refused_by

from protonn_edge.learn.search.cluster import DaskWorkers
from protonn_edge.learn.search.limits import TuningLimits

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:distributed"),
    pytest.mark.skipif(  # and not imported, which takes half a second in each process
        find_spec("distributed") is None,
        reason="needs dask; to run: pip install 'protonn-edge[dask]'",
    ),
]

LIMITS = TuningLimits(flash_bytes=4_000)
TRIALS = 4


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def started_dask(*arguments):
    path = os.pathsep.join([*filter(None, sys.path)])
    return started(
        *(sys.executable, "-m", "dask", *arguments, "--no-dashboard"),
        env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def started_worker(address):
    return started_dask("worker", address, "--nthreads", 1, "--no-nanny")


@pytest.fixture(scope="module")
def scheduler():
    """A scheduler; yields its address."""
    port = free_port()
    with started_dask("scheduler", "--host", "127.0.0.1", "--port", port):
        yield f"tcp://127.0.0.1:{port}"


@pytest.fixture
def cluster(scheduler):
    """A scheduler and a worker of one thread; yields their address and process."""
    with started_worker(scheduler) as worker:
        yield scheduler, worker


def connected(address):
    """Return what makes the workers, once the scheduler listens."""
    deadline = time.monotonic() + 90
    host, port = re.fullmatch(r"tcp://(.*):(\d+)", address).groups()
    while time.monotonic() < deadline:
        with (
            contextlib.suppress(OSError),
            socket.create_connection((host, int(port)), timeout=1),
        ):
            return functools.partial(DaskWorkers, address=address)
        time.sleep(0.1)
    pytest.fail("the scheduler did not start")


def test_two_workers_end_a_search_as_one_process_does(cluster, make_objective, search, tmp_path):
    address, _ = cluster
    objective = make_objective(limits=LIMITS)
    with started_worker(address):
        found = search(objective, tmp_path / "there", connected(address), trials=TRIALS).records
    here = search(objective, tmp_path / "here", trials=TRIALS).records
    assert sum(record.outcome != "infeasible" for record in found) == TRIALS
    starts = [dict(start) for start in objective.space.starts]
    alike = {record.number: record for record in found if record.number < len(starts)}
    for record in here[: len(starts)]:  # which are never pruned
        assert replace(alike[record.number], seconds=0) == replace(record, seconds=0)


def test_a_search_goes_on_without_its_only_worker_if_another_comes(
    cluster, make_objective, search, tmp_path
):
    address, worker = cluster
    objective = make_objective(limits=LIMITS)
    with contextlib.ExitStack() as others:

        def replace_worker(records):
            if len(records) >= 3 and worker.poll() is None:
                worker.kill()
                worker.wait()
                others.enter_context(started_worker(address))

        dask, path = connected(address), tmp_path / "there"
        found = search(objective, path, dask, trials=TRIALS, on_change=replace_worker)
    assert worker.wait() != 0
    assert sum(record.outcome != "infeasible" for record in found.records) == TRIALS


def test_no_scheduler_is_said(make_objective, monkeypatch):
    monkeypatch.setattr("protonn_edge.learn.search.cluster._CONNECT_S", 1)
    address = f"tcp://127.0.0.1:{free_port()}"
    with (
        refused_by("learn.search.cluster"),
        DaskWorkers(make_objective(), None, address),
    ):
        pass
