"""Does the wheel work with other versions? ``make versions`` installs and uses it, as users do.

`constraints.txt` pins what the tests run with; pip gives a user what is newest today. So the wheel
is installed without constraints on each Python that the machine has, and once more on the oldest
supported Python with the lowest versions that pyproject.toml admits. In each installation, the
commands of a first day run on the digits that scikit-learn ships.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

ROOT = Path(__file__).resolve().parents[1]
PROJECT = ROOT / "pyproject.toml"
LIMIT_S = 600
KINDS = ("protonn", "linear", "forest", "dense")
SAVED_AGAIN = """
from pathlib import Path
from protonn_edge import load_model, save_model
save_model(load_model("linear.npz"), "again.npz")
assert Path("again.npz").read_bytes() == Path("linear.npz").read_bytes()
"""
# By the loops that commands choose: their choice has crashed a new BLAS.
LARGE_PRODUCTS = """
from protonn_edge.system.rounding import fix_rounding
fix_rounding()
import numpy as np
for n in (1, 100, 1000):
    assert (np.ones((n, 700)) @ np.ones((700, 10)) == 700).all()
"""
SHOWN = ("numpy", "scipy", "scikit-learn", "click")


@dataclass(frozen=True)
class Installation:
    """One Python, and the newest or the lowest versions of what the package needs."""

    python: Path
    version: tuple[int, int]
    lowest: bool = False
    extras: bool = False

    @property
    def name(self) -> str:
        """What `--only` selects, such as 3.12-newest."""
        versions = "lowest" if self.lowest else "newest"
        return f"{self.version[0]}.{self.version[1]}-{versions}" + "-extras" * self.extras


@dataclass(frozen=True)
class Outcome:
    """What one command came to in an installation; `error` is empty if it worked."""

    step: str
    seconds: float
    error: str


def pythons() -> dict[tuple[int, int], Path]:
    """Return an interpreter of each supported minor version, on PATH or of pyenv."""
    least = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["requires-python"]
    oldest = tuple(map(int, least.removeprefix(">=").split(".")))
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    folders = [*map(Path, os.environ["PATH"].split(os.pathsep)), *sorted(pyenv.glob("*/bin"))]
    found: dict[tuple[int, int], Path] = {}
    for folder in folders:
        for python in folder.glob("python3.[0-9]*"):
            _, _, minor = python.name.partition(".")
            version = (3, int(minor)) if minor.isdecimal() else (0, 0)
            if version >= oldest and version not in found and _starts(python, version):
                found[version] = python
    return dict(sorted(found.items()))


def _starts(python: Path, version: tuple[int, int]) -> bool:
    """Return whether it is that version: a shim of pyenv may start another, or none."""
    program = "import sys; print(*sys.version_info[:2])"
    done = subprocess.run([python, "-c", program], check=False, capture_output=True, text=True)
    return done.stdout.split() == [str(number) for number in version]


def installations() -> list[Installation]:
    """Return those of this machine, the lowest versions last."""
    found = pythons()
    newest = [Installation(python, version) for version, python in found.items()]
    with_extras = Installation(newest[-1].python, newest[-1].version, extras=True)
    oldest = newest[0]
    lowest = [
        Installation(oldest.python, oldest.version, lowest=True, extras=extras)
        for extras in (False, True)
    ]
    return [*newest, with_extras, *lowest]


def build(folder: Path) -> Path:
    """Return the wheel, built by the hatchling that is installed."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT]
    _check([*map(str, command)], ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wanted: Installation, wheel: Path, folder: Path) -> Path:
    """Install the wheel into a virtual environment; return the folder of its programs."""
    uv = [sys.executable, "-m", "uv"]
    _check([*uv, "venv", "--quiet", "--python", str(wanted.python), str(folder)], ROOT)
    add = [*uv, "pip", "install", "--quiet", "--python", str(folder / "bin" / "python")]
    extra = ["--extra", "all"] if wanted.extras else []
    if wanted.lowest:  # of what pyproject.toml names; what these need is as new as it can be
        lowest = ["--resolution", "lowest-direct", "--requirements", str(PROJECT)]
        _check([*add, *lowest, *extra], ROOT)
        _check([*add, "--no-deps", str(wheel)], ROOT)
    else:
        _check([*add, f"protonn-edge{'[all]' * wanted.extras} @ {wheel.as_uri()}"], ROOT)
    return folder / "bin"


def steps(programs: Path, *, extras: bool) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the command line of each command of a first day, in order."""
    us, python = str(programs / "protonn-edge"), str(programs / "python")
    data = "digits.csv"
    yield "--help", [us, "--help"]
    yield "demo --csv", [us, "demo", "--csv", "-o", "."]
    yield "data", [us, "data", data]
    for kind in KINDS:
        trained = [us, "train", data, "-o", f"{kind}.npz", "--classifier", kind]
        brief = ["--epochs", "4"] if kind in {"protonn", "dense"} else []
        yield f"train {kind}", [*trained, *brief]
    yield "load, save", [python, "-c", SAVED_AGAIN]
    yield "large products", [python, "-c", LARGE_PRODUCTS]
    yield "inspect", [us, "inspect", "protonn.npz"]
    yield "build", [us, "build", "protonn.npz", "-o", "project"]
    yield "hil", [us, "hil", data, "--emulate", "-o", "results.csv", "--project", "project"]
    yield "export", [us, "export", "protonn.npz", "--arduino", "library"]
    yield "convert", [us, "convert", "protonn.npz", "-o", "reference"]
    yield "convert back", [us, "convert", "reference", "-o", "back.npz", "--data", data]
    yield "demo", [us, "demo", "-o", "demo"]
    if extras:
        yield "data --html", [us, "data", data, "--html", "data.html"]
        limits = ["--board", "uno", "-o", "tuned.npz", "--trials", "2"]
        yield "tune", [us, "tune", data, *limits]
        yield "convert to ONNX", [us, "convert", "linear.npz", "-o", "linear.onnx"]


def use(programs: Path, folder: Path, *, extras: bool) -> Iterator[Outcome]:
    """Yield what each command came to, in an empty folder."""
    for name, command in steps(programs, extras=extras):
        began = time.perf_counter()
        error = _error(command, folder)
        yield Outcome(name, time.perf_counter() - began, error)


def _error(command: list[str], folder: Path) -> str:
    """Run a command as a user would; return the end of what it said if it failed."""
    own = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE"}
    environment = {name: value for name, value in os.environ.items() if name not in own}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        return f"no end after {LIMIT_S} s"
    if done.returncode == 0 and "Traceback" not in done.stderr:
        return ""
    return (done.stderr or done.stdout or f"exit {done.returncode}").strip()[-2000:]


def _check(command: list[str], folder: Path) -> None:
    """Run a command that has to succeed."""
    if error := _error(command, folder):
        raise click.ClickException(f"{' '.join(command)}\n{error}")


def _versions(programs: Path) -> dict[str, str]:
    """Return the versions of the libraries that most depends on."""
    program = (
        "import json; from importlib.metadata import version; "
        f"print(json.dumps({{name: version(name) for name in {SHOWN}}}))"
    )
    done = subprocess.run(
        [programs / "python", "-c", program], check=True, capture_output=True, text=True
    )
    versions: dict[str, str] = json.loads(done.stdout)
    return versions


def tried(wanted: Installation, wheel: Path, folder: Path) -> Mapping[str, Any]:
    """Install the wheel and use it; return the versions and all outcomes."""
    programs = install(wanted, wheel, folder / "venv")
    empty = folder / "empty"
    empty.mkdir()
    outcomes = list(use(programs, empty, extras=wanted.extras))
    return {
        "installation": wanted.name,
        "versions": _versions(programs),
        "seconds": {each.step: round(each.seconds, 1) for each in outcomes},
        "failed": {each.step: each.error for each in outcomes if each.error},
    }


@click.command()
@click.option("--only", multiple=True, help="Such an installation, as 3.12-newest; repeatable.")
@click.option("--jobs", default=2, show_default=True, help="Installations at the same time.")
@click.option("--brief", is_flag=True, help="Only the newest Python, and the lowest versions.")
@click.option("--list", "listed", is_flag=True, help="List the installations of this machine.")
@click.option("--json", "as_json", is_flag=True, help="One object for each installation.")
def main(only: tuple[str, ...], jobs: int, brief: bool, listed: bool, as_json: bool) -> None:
    """Install the wheel with newest and lowest versions, and run the commands of a first day."""
    wanted = installations()
    if brief:
        plain = [each for each in wanted if not each.extras]
        wanted = [plain[-2], plain[-1]]
    names = [each.name for each in wanted]
    if unknown := set(only) - set(names):
        raise click.UsageError(f"no {', '.join(sorted(unknown))} here; choose among {names}")
    wanted = [each for each in wanted if not only or each.name in only]
    if listed:
        click.echo("\n".join(f"{each.name:22} {each.python}" for each in wanted))
        return
    with TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        wheel = build(Path(folder))
        places = [Path(folder) / each.name for each in wanted]
        for place in places:
            place.mkdir()
        failed = 0
        for record in pool.map(tried, wanted, [wheel] * len(wanted), places):
            click.echo(json.dumps(record) if as_json else _text(record))
            failed += bool(record["failed"])
    if failed:
        raise click.ClickException(f"{failed} of {len(wanted)} installations failed")


def _text(record: Mapping[str, Any]) -> str:
    versions, seconds, failed = record["versions"], record["seconds"], record["failed"]
    shown = ", ".join(f"{name} {version}" for name, version in versions.items())
    took = f"{len(seconds)} commands in {sum(seconds.values()):.0f} s, {len(failed)} failed"
    lines = [f"{record['installation']}: {shown}; {took}"]
    return "\n".join([*lines, *(f"  {step}: {error}" for step, error in failed.items())])


if __name__ == "__main__":
    main()
