"""Nothing needs what only POSIX has, nor hangs on a system's encoding."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import protonn_edge

PACKAGE = Path(protonn_edge.__file__).parent
DEADLINE_S = 120.0
SHIM = PACKAGE / "chips" / "toolchain" / "shim"  # PlatformIO's: it runs where SCons does
SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(SHIM))
MODULES = ("fcntl", "termios", "tty", "pty", "resource", "pwd", "grp", "posix", "syslog", "crypt")
ATTRIBUTES = {
    "os": (
        *("chown", "fork", "forkpty", "geteuid", "getgid", "getpgid", "getuid", "killpg", "mkfifo"),
        *("nice", "openpty", "pipe2", "sched_getaffinity", "setsid", "statvfs", "sysconf", "uname"),
    ),
    "signal": ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1", "SIGUSR2", "alarm"),
    "socket": ("AF_UNIX",),
    "time": ("tzset",),
}
# Where each is used with care, and what the care is.
CARE = {
    ("chips/toolchain/process.py", "os.killpg"): 'hasattr(os, "killpg")',
    ("chips/toolchain/process.py", "signal.SIGKILL"): 'hasattr(os, "killpg")',
    ("extensions/agents/child.py", "os.killpg"): 'hasattr(os, "killpg")',
    ("extensions/agents/child.py", "signal.SIGKILL"): 'hasattr(os, "killpg")',
    ("system/folders.py", "fcntl"): "except ImportError:",
    ("extensions/sensing/keys.py", "termios"): "except ImportError:",
    ("extensions/sensing/keys.py", "tty"): "except ImportError:",
    ("system/folders.py", "os.getuid"): 'hasattr(os, "getuid")',
    **{
        ("extensions/studio/processes.py", name): "if LINUX and"
        for name in ("socket.AF_UNIX", "signal.SIGKILL", "pass_fds")
    },
    **{
        ("extensions/studio/warm.py", name): "It runs on Linux only."
        for name in ("os.fork", "os.setsid")
    },
    # A pseudo-terminal's name: where there is none, the emulator ends before it.
    ("cli/emulate.py", "symlink_to"): "exists and is not a symbolic link",
}


def names_in(path: Path) -> Iterator[str]:
    """Yield what a file uses that Windows has not."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in MODULES)
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            yield str(node.module)
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if node.attr in ATTRIBUTES.get(owner, ()):
                yield f"{owner}.{node.attr}"
        if isinstance(node, ast.Attribute) and node.attr in {"symlink_to", "hardlink_to"}:
            yield node.attr
        if isinstance(node, ast.keyword) and node.arg in {"preexec_fn", "pass_fds"}:
            yield node.arg


def careless(path: Path) -> list[str]:
    """Return what a file uses that Windows has not, without care."""
    text, name = path.read_text("utf-8"), path.relative_to(PACKAGE).as_posix()
    return [used for used in names_in(path) if CARE.get((name, used), "\0") not in text]


def test_what_only_posix_has_is_used_with_care() -> None:
    assert not {path: found for path in SOURCES if (found := careless(path))}


WINDOWS_LIKE = """
import os, signal, sys
# What is not this package's may ask for its own system first.
import click, cobs, distributed, matplotlib.pyplot, numpy, optuna, optuna.storages.journal
import platformio.project.options, requests, rich.progress, serial, scipy.sparse
import serial.tools.list_ports, sklearn.ensemble, sklearn.cluster, sklearn.utils.validation
import sklearn.decomposition, sklearn.discriminant_analysis, sklearn.neighbors, threadpoolctl
for name in {modules!r}:
    sys.modules[name] = None
for owner, names in {attributes!r}.items():
    for name in names:
        if hasattr(sys.modules.get(owner), name):
            delattr(sys.modules[owner], name)
"""


# Says after each step how far it came.
EVERYTHING = """
import importlib
for name in {modules!r}:
    importlib.import_module(name)
print("imported")
from click.testing import CliRunner
from protonn_edge.cli import main
for words in {commands!r}:
    done = CliRunner().invoke(main, words.split())
    assert done.exit_code == 0, done.output
print("run")
"""
COMMANDS = (
    "train train.csv -o m.npz --epochs 2 --prototypes 4 --projection-dim 2",
    "inspect m.npz",
    # Not tried: without locks, other tests would remove the folder in which it is compiled.
    "export m.npz --arduino box --no-try",
    "export m.npz --c plain --no-try",
)


@pytest.fixture(scope="module")
def like_windows(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """Return a folder and what a process says there without what Windows has not."""
    folder = tmp_path_factory.mktemp("windows")
    rows = [f"{label},{label * 3 + i % 5},{i % 7}" for i in range(60) for label in (0, 1)]
    (folder / "train.csv").write_text("\n".join(["label,a,b", *rows]) + "\n")
    modules = [
        ".".join(("protonn_edge", *path.relative_to(PACKAGE).with_suffix("").parts))
        for path in SOURCES
        if path.name not in {"__init__.py", "__main__.py"}
    ]
    script = WINDOWS_LIKE.format(modules=MODULES, attributes=ATTRIBUTES)
    script += EVERYTHING.format(modules=modules, commands=COMMANDS)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    return folder, done.stdout, done.stderr


def test_every_module_is_imported_without_posix(
    like_windows: tuple[Path, str, str],
):
    _, printed, complaints = like_windows
    assert printed.startswith("imported\n"), complaints


def test_a_model_is_trained_inspected_and_exported_without_posix(
    like_windows: tuple[Path, str, str],
):
    folder, printed, complaints = like_windows
    assert printed.endswith("run\n"), complaints
    assert (folder / "box" / "library.properties").is_file()
