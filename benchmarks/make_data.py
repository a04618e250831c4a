"""Make data sets of the benchmarks from the files that their sources publish.

    python benchmarks/make_data.py FILE DOWNLOADED... -o FOLDER

FILE is such as ``letter26.npz``; `README.md` here lists the files to download. Classes are numbered
in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from scipy.io import arff
from sklearn.datasets import load_svmlight_file

Part = tuple[NDArray[Any], NDArray[Any]]  # points, labels


def _svmlight(path: Path) -> Part:
    X, y = load_svmlight_file(str(path))
    return X.toarray(), y


def _letters(path: Path) -> Part:
    """Read numbers of 0 to 15, which LIBSVM scaled to -1 to 1."""
    X, y = _svmlight(path)
    return np.rint(7.5 * (X + 1)), y


def _series(path: Path) -> Part:
    """Read rows of a label and samples."""
    rows = np.loadtxt(path, np.float32)
    return rows[:, 1:], rows[:, 0]


def _arff(path: Path) -> Part:
    data, _ = arff.loadarff(path)
    *features, label = data.dtype.names
    return np.stack([data[each] for each in features], axis=1), data[label].astype(str)


def _occupancy(path: Path) -> Part:
    """Read rows of a number, a time, five measurements and the label, below a heading."""
    rows = np.loadtxt(path, str, delimiter=",", skiprows=1)
    return rows[:, 2:7], rows[:, 7]


# How a published file is read, and how many of its points are for training if it has all of them.
FILES: dict[str, tuple[Callable[[Path], Part], int | None]] = {
    "usps10_libsvm.npz": (_svmlight, None),
    "letter26.npz": (_letters, None),
    "occupancy.npz": (_occupancy, None),
    "ecg5000.npz": (_series, None),
    "gunpoint.npz": (_series, None),
    "mnist10.npz": (_arff, 60_000),
}


def made(name: str, downloaded: tuple[Path, ...]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a data set."""
    read, trained = FILES[name]
    parts = [read(path) for path in downloaded]
    if trained is not None:
        ((X, y),) = parts
        parts = [(X[:trained], y[:trained]), (X[trained:], y[trained:])]
    (X, y), (X_test, y_test) = parts
    numbers = np.unique(np.concatenate([y, y_test]), return_inverse=True)[1]
    every = np.concatenate([X, X_test]).astype(np.float32)
    whole = np.array_equal(every, every.astype(np.uint8))
    X, X_test = np.split(every.astype(np.uint8) if whole else every, [len(X)])
    points = {"X_train": X, "X_test": X_test}
    return points | {"y_train": numbers[: len(y)], "y_test": numbers[len(y) :]}


@click.command(help=__doc__)
@click.argument("name", metavar="FILE", type=click.Choice(list(FILES)))
@click.argument("downloaded", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("-o", "folder", type=click.Path(file_okay=False, path_type=Path), required=True)
def main(name: str, downloaded: tuple[Path, ...], folder: Path) -> None:
    """Make a data set."""
    if len(downloaded) != (2 if FILES[name][1] is None else 1):
        raise click.UsageError(f"{name}: give the files that benchmarks/README.md lists")
    arrays = made(name, downloaded)
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / name, **arrays)  # type: ignore[arg-type]
    click.echo(
        f"{name}: {len(arrays['y_train']):,} points to train, {len(arrays['y_test']):,} to test"
    )


if __name__ == "__main__":
    main()
