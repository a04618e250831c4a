"""Train on points that should not all be in memory: peak memory and time of one epoch.

    python benchmarks/out_of_core.py [--only NAME] [--json]

writes points to a temporary file, trains on it, mapped, in a process of its own, and prints the
peak of that process's resident memory (the mapped file's pages count) and the seconds.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np

_DEADLINE_S = 1_800
_SPARE_BYTES = 2**30  # left on the disk
_CHILD = """
import json, resource, sys, time
import numpy as np
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
X, y = np.load(sys.argv[1], mmap_mode="r"), np.load(sys.argv[2])
begin = time.perf_counter()
classifier = ProtoNNClassifier(n_prototypes=40, epochs=1, random_state=0).fit(X, y)
seconds = time.perf_counter() - begin
peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
accuracy = classifier.history_[-1].accuracy
print(json.dumps({"peak_bytes": peak, "seconds": seconds, "train_accuracy": accuracy}))
"""


@dataclass(frozen=True)
class Size:
    """How many points of how many features."""

    name: str
    points: int
    features: int

    @property
    def bytes(self) -> int:
        """What they take in float32."""
        return 4 * self.points * self.features


SIZES = [Size("300MB", 300_000, 256), Size("1.6GB", 1_000_000, 400)]


def write_points(size: Size, folder: Path) -> None:
    """Write X.npy and y.npy: ten classes of four Gaussian clusters each, sorted by class."""
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 10, size.points))
    centres = rng.normal(size=(40, size.features)).astype(np.float32)
    header = {"descr": "<f4", "fortran_order": False, "shape": (size.points, size.features)}
    # Not mapped: a child's peak of resident memory begins at that of the process it comes from.
    with (folder / "X.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, size.points, 20_000):
            labels = y[start : start + 20_000]
            clusters = 4 * labels + rng.integers(0, 4, len(labels))
            noise = rng.standard_normal((len(labels), size.features), dtype=np.float32)
            file.write((centres[clusters] + np.float32(3.0) * noise).astype("<f4").tobytes())
    np.save(folder / "y.npy", y)


def measure(size: Size) -> dict[str, Any]:
    """Return the figures of one row."""
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        free = shutil.disk_usage(folder).free
        if free < size.bytes + _SPARE_BYTES:
            raise click.UsageError(
                f"{size.name} takes {size.bytes:,} B of disk, {folder.parent} has {free:,} free; "
                "set TMPDIR to a folder with more, or choose another --only"
            )
        write_points(size, folder)
        child = subprocess.run(
            [sys.executable, "-c", _CHILD, str(folder / "X.npy"), str(folder / "y.npy")],
            check=True,
            stdout=subprocess.PIPE,
            timeout=_DEADLINE_S,
        )
    figures = {"points": size.points, "features": size.features, "file_bytes": size.bytes}
    return {"name": size.name, **figures, **json.loads(child.stdout)}


@click.command()
@click.option("--only", type=click.Choice([size.name for size in SIZES]), help="One row.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, as_json: bool) -> None:
    """Print peak memory and time for each size of file."""
    if not as_json:
        click.echo("| file | points | features | peak memory MB | one epoch s |")
        click.echo("|---|---|---|---|---|")
    for size in SIZES:
        if only in (None, size.name):
            record = measure(size)
            click.echo(json.dumps(record) if as_json else _table_row(record))


def _table_row(record: dict[str, Any]) -> str:
    return (
        f"| {record['name']} | {record['points']:,} | {record['features']} "
        f"| {record['peak_bytes'] / 1e6:.0f} | {record['seconds']:.0f} |"
    )


if __name__ == "__main__":
    main()
