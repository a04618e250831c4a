"""What takes the place of the package's calls of compilers in tests: each is made once for all.

Programs of other processes of the tests do that, too, with the folder that they inherit.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from kept_analyses import kept_analyses, of_paths, of_stack
from kept_programs import KeptPrograms
from replayed_builds import ReplayedBuilds

from protonn_edge.chips.toolchain import platformio
from protonn_edge.codegen import host
from protonn_edge.codegen.families.avr import paths, programs

FOLDER = "PROTONN_EDGE_REPLAYED_BUILDS"
"""The variable that names the folder, which processes share."""


def keep_builds(folder: Path, put: Callable[[Any, str, Any], object] = setattr) -> None:
    """Let PlatformIO run once for each kind of project; it takes a second before it compiles.

    A program for this computer is compiled once, too, and one for the board analysed once.
    """
    put(platformio, "run_within", ReplayedBuilds(folder, platformio.run_within))
    put(host, "build_host_executable", KeptPrograms(folder, host.build_host_executable))
    put(programs, "worst_case_stack", kept_analyses(programs.worst_case_stack, of_stack))
    put(paths, "_paths_of_spans", kept_analyses(paths._paths_of_spans, of_paths))
