"""Run a program, such as a compiler, under a deadline, and leave nothing of it behind.

Compiler drivers start other programs. If only the driver were ended, these would keep running with
its output pipes open, and the caller would wait for them. So the whole process group is ended: at
the deadline, after an error here and, through a shell, when this process itself is killed. Windows
has no process groups: there, only the started program is ended, and its children may continue.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from protonn_edge.system.errors import CheckFailed, InputError, InvalidValue
from protonn_edge.system.folders import scratch_folder

# The beginning of a line in which compilers and linkers give a reason.
_SIGNS = ("error:", "undefined reference", "is not within region", "not found", "cannot find")
BUSY = "try again when the computer is less busy"
"""The default advice after a deadline has passed."""

_MOST_LINES = 3
# Run a command at the head of a process group. Nobody writes to the shell's standard input, whose
# other end this process holds: its end is this process's end, even if it was killed.
_LAUNCHER = """
exec 3<&0 </dev/null
{ read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 &
"$@" 3<&-
code=$?
exec 2>/dev/null
kill $!
exit $code
"""
# The caller's variables that compilers and PlatformIO get: they find programs, a home, a network
# and a language. Others, such as CPATH, GCC_EXEC_PREFIX and PLATFORMIO_BUILD_FLAGS, would decide
# what is compiled, beside the files that are compared. Python's apply to this program, too.
_PASSED = re.compile(
    "PATH|HOME|USER|LOGNAME|LANG|LC_[A-Z]+|TZ|TERM|PYTHON[A-Z]+|VIRTUAL_ENV|XDG_[A-Z_]+"
    "|(HTTPS?|ALL|NO|FTP)_PROXY|SSL_CERT_(FILE|DIR)|(REQUESTS|CURL)_CA_BUNDLE"
    "|PLATFORMIO_((CORE|PACKAGES|PLATFORMS|CACHE)_DIR|AUTH_TOKEN|SETTING_[A-Z_]+)"
    "|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|PROCESSOR_ARCHITECTURE|NUMBER_OF_PROCESSORS"
    r"|USERPROFILE|USERNAME|HOMEDRIVE|HOMEPATH|(LOCAL)?APPDATA|PROGRAM(DATA|FILES(\(X86\))?)",
    re.IGNORECASE,
)
# Lines in which SCons and PlatformIO only repeat that something failed.
_SUMMARY = re.compile(r"^\*\*\* .*|=+ \[FAILED\].*", re.MULTILINE)

# A program runs for a fraction of the time that it takes to compile: -O2 gains nothing, and takes
# three times as long for a function with thousands of lines, as unrolled projections have.
_FLAGS = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
# Not optimized: nothing undefined is optimized away, and compiling takes half the time. A sanitizer
# names functions and lines, which takes no more than -g1. On Linux, linking takes half the time if
# nothing is looked up for the sanitizers' own libraries.
_SANITIZERS = (
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O0", "-g1"),
    *(("-Wl,--allow-shlib-undefined",) if sys.platform == "linux" else ()),
)


def run_within(
    deadline_s: float,
    command: Sequence[str],
    *,
    name: str,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    remedy: str = BUSY,
) -> subprocess.CompletedProcess[str]:
    """Run `command` without a shell to its end and return its `returncode`, `stdout` and `stderr`.

    After the deadline, the program and all that it started are ended; `remedy` is then the advice.
    Messages call it `name`. It runs by default in the current folder, with the caller's
    environment except for a folder of temporary files that is removed with its contents. The caller
    handles failures.

    Raises `CheckFailed` if the deadline passes, `FileNotFoundError` if there is no such program.
    """
    variables = dict(environment or os.environ)
    groups = hasattr(os, "killpg")
    if groups:
        program = shutil.which(command[0], path=variables.get("PATH"))
        if program is None:
            raise FileNotFoundError(command[0])
    launched = ["/bin/sh", "-c", _LAUNCHER, "sh", *command] if groups else command
    watched, held = os.pipe()  # `held` is closed when this process ends, however it does
    try:
        with (
            scratch_folder() as scratch,
            subprocess.Popen(
                launched,
                cwd=folder,
                # An ended compiler leaves temporary files.
                env=variables | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch)),
                stdin=watched if groups else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            ) as process,
        ):
            try:
                stdout, stderr = process.communicate(timeout=deadline_s)
            except subprocess.TimeoutExpired as error:
                raise CheckFailed(
                    f"{name} was stopped because it took more than {deadline_s:g} s; {remedy}"
                ) from error
            finally:
                _end(process)
    finally:
        os.close(watched)
        os.close(held)
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def run_in_turn(
    deadline_s: float,
    commands: Sequence[Sequence[str]],
    *,
    name: str,
    folder: Path,
    environment: Mapping[str, str],
) -> subprocess.CompletedProcess[str]:
    """Run commands by one shell, each if those before have succeeded, as `run_within` runs one."""
    script = "\n".join(["set -e", *map(shlex.join, commands)])
    command = ["/bin/sh", "-c", script]
    return run_within(deadline_s, command, name=name, folder=folder, environment=environment)


def compiling_environment() -> dict[str, str]:
    """Return the environment for compilers: this process's, without what would change a program."""
    passed = {name: value for name, value in os.environ.items() if _PASSED.fullmatch(name)}
    return {**passed, "LC_ALL": "C.UTF-8"}  # messages in English: some are looked for


def compile_sources(
    command: Sequence[str], sources: Sequence[Path], *, deadline_s: float, name: str
) -> None:
    """Run a compiler on sources; `CheckFailed`, in English, if it refuses them or is late."""
    done = run_within(deadline_s, command, name=name, environment=compiling_environment())
    if done.returncode != 0:
        names, reason = ", ".join(each.name for each in sources), relevant_lines(done.stderr)
        raise CheckFailed(f"{Path(command[0]).name} refused {names}: {reason}")


def build_host_executable(
    sources: Sequence[Path],
    include: Path,
    out: Path,
    sanitize: bool = False,
    *,
    deadline_s: float = 120.0,
) -> Path:
    """Compile and link C99 sources, with warnings as errors; `out` appears only when complete.

    With `sanitize`, the program stops at the first undefined behaviour or bad memory access (gcc,
    clang). Raises `InputError` if this machine has no C compiler, which the variable CC can name,
    and `CheckFailed` with its words if it refuses the sources.
    """
    compiler = _compiler()
    out.parent.mkdir(parents=True, exist_ok=True)
    with scratch_folder(out.parent) as scratch:
        unfinished = scratch / "program.exe"  # a name that Windows' compilers leave alone
        flags = (*_FLAGS, *(_SANITIZERS if sanitize else ()), f"-I{include}")
        command = [compiler, *flags, *map(str, sources), "-o", str(unfinished), "-lm"]
        compile_sources(command, sources, deadline_s=deadline_s, name="the C compiler")
        unfinished.replace(out)
    return out


def has_compiler() -> bool:
    """Return whether this machine has a C compiler."""
    try:
        return bool(_compiler())
    except InputError:
        return False


def _compiler() -> str:
    """Return the path of the C compiler that CC names, or of the first that there is."""
    chosen = os.environ.get("CC")
    for name in [chosen] if chosen else ["cc", "gcc", "clang"]:
        path = shutil.which(name)
        if path is not None:
            return path
    raise InvalidValue(
        f"{chosen or 'cc, gcc and clang'}",
        "no such C compiler",
        "install gcc or clang, or set the variable CC to your compiler",
    )


def _end(process: subprocess.Popen[str]) -> None:
    """End `process` and all that it started, if it still runs."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:  # Windows
                process.kill()


def relevant_lines(output: str) -> str:
    """Return the few lines of a compiler's output with its errors, joined by ``; ``."""
    stripped = (line.strip() for line in _SUMMARY.sub("", output).splitlines())
    lines = [line for line in dict.fromkeys(stripped) if line]  # avrdude repeats some
    telling = [line for line in lines if any(sign in line.lower() for sign in _SIGNS)]
    return "; ".join(telling[:_MOST_LINES] or lines[-_MOST_LINES:])
