"""``build.json``: the plan of a generated program, stored next to it.

It identifies the plan by named choices, so that later commands have the same plan without a search,
and other programs can read its costs. The file is not trusted: readers recreate the plan from these
choices, and compare the file with what `build` writes for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protonn_edge import __version__
from protonn_edge.avr.cores import CORES, Core
from protonn_edge.chain.activity import Activity
from protonn_edge.codegen import Float32Plan, Plan, make_float32_plan
from protonn_edge.codegen.planner import plan_of
from protonn_edge.errors import InputError
from protonn_edge.quantization import PRECISIONS, DeviceModel, Float32Model, IntegerChain
from protonn_edge.system.files import check_file
from protonn_edge.system.schema import list_of, number, one_of, optional, record_of, text, whole

PLAN_FILE = "build.json"

_FORMAT = 1  # increase it if a key changes; files of other formats are refused
_LARGEST_FILE = 64 << 10
_AGAIN = "run 'protonn-edge build' again"

_STAGES = list_of(
    record_of(
        {
            "name": text(80),
            "kernel": text(80),
            "flash_bytes": whole(0, 10**9),
            "mean": optional(number(0, 1e15)),
            "worst": whole(0, 10**15),
            "least": whole(0, 10**15),
        }
    ),
    most=100,
)
_RECORD = record_of(
    {
        "format": whole(_FORMAT, _FORMAT),
        "tool_version": text(80),
        "model_sha256": text(64),
        "precision": one_of(*PRECISIONS),
        "core": one_of(*CORES, None),
        "choices": lambda value: isinstance(value, dict) and all(map(text(80), value.values())),
        "table_bytes": whole(0, 10**9),
        "state_bytes": whole(0, 10**9),
        "plan": lambda value: isinstance(value, dict) and _STAGES(value.get("stages", [])),
    }
)


@dataclass(frozen=True)
class WrittenPlan:
    """What identifies a plan."""

    model_sha256: str  # the hash of its model
    precision: str  # {"int8", "float32"}: of W, B and Z on the device
    core: str | None  # the kind of chip for which cycles are counted; None for a float build
    choices: Mapping[str, str]  # see `Plan.choices`
    # mean cycles of each stage, which depend on the points that the plan was made for
    means: tuple[float | None, ...]

    def plan_of(self, model: DeviceModel) -> Plan | Float32Plan | None:
        """Return the model's plan with these choices; None if there is none."""
        if isinstance(model, Float32Model):
            return make_float32_plan(model)
        if self.core is None:
            return None
        found = plan_of_choices(model, CORES[self.core], self.choices)
        if found is None or len(found.steps) != len(self.means):
            return None
        return found.with_means(self.means)


def plan_of_choices(
    model: IntegerChain,
    core: Core,
    choices: Mapping[str, str],
    activity: Activity | None = None,
) -> Plan | None:
    """Return the model's plan with these choices; None if there is none."""
    try:
        plan = plan_of(model, choices, core, activity=activity)
    except InputError:
        return None
    return plan if plan.choices == choices else None


def plan_text(model: DeviceModel, plan: Plan | Float32Plan) -> str:
    """Return the content of ``build.json``: the same for the same model and plan."""
    record = {
        "format": _FORMAT,
        "tool_version": __version__,
        "model_sha256": model.model_sha256,
        "precision": model.precision,
        "core": None if isinstance(plan, Float32Plan) else plan.core.name,
        "choices": plan.choices,
        "table_bytes": plan.table_bytes,
        "state_bytes": plan.state_bytes,
        "plan": plan.to_json(),
    }
    return json.dumps(record, indent=2, allow_nan=False) + "\n"


def read_plan(path: Path) -> WrittenPlan:
    """Return what ``build.json`` says of the plan.

    Raises `InputError` if the file is missing, damaged, or of another version.
    """
    if not path.exists():
        raise InputError(f"{path} is missing, as an older version built the folder; {_AGAIN}")
    record = _read(path)
    version = record.get("tool_version") if isinstance(record, dict) else None
    if text(80)(version) and version != __version__:
        raise InputError(f"{path} is of version {version!r}, this is {__version__}; {_AGAIN}")
    if not _RECORD(record):
        raise not_as_written(path)
    means = tuple(stage["mean"] for stage in record["plan"].get("stages", []))
    own = {name: record[name] for name in ("model_sha256", "precision", "core", "choices")}
    return WrittenPlan(**own, means=means)


def not_as_written(path: Path) -> InputError:
    """Return the error for a generated file that differs from what `build` writes for its model."""
    return InputError(f"{path} is not what 'build' writes for its model; {_AGAIN}")


def _read(path: Path) -> Any:
    try:
        check_file(path, limit_bytes=_LARGEST_FILE)
        return json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; {_AGAIN}") from error
    except (ValueError, RecursionError) as error:
        raise not_as_written(path) from error
