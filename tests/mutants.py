"""Do the tests notice faults? ``make mutants`` makes small ones in a copy of the checkout.

Cosmic Ray finds the places and makes the faults; this module chooses among them. A mutant is
*killed* if one of the tests nearest to its module fails, and *survives* if all pass. Which mutants
a seed draws depends on the text of their line, its function and its module only, so a change
elsewhere leaves them as they are.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import os
import resource
import shlex
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from difflib import unified_diff
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

import click
import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.ast.ast_query import ASTQuery
from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("protonn_edge")
LOG = Path("pytest.log")

# One replacement for each operator, one that is hard to notice. Cosmic Ray has ten for a plus.
OPERATORS = [
    *(
        f"core/ReplaceBinaryOperator_{pair}"
        for pair in (
            "Add_Sub",
            "Sub_Add",
            "Mul_Add",
            "Div_Mul",
            "FloorDiv_Mul",
            "Mod_FloorDiv",
            "Pow_Mul",
            "RShift_LShift",
            "LShift_RShift",
            "BitOr_BitAnd",
            "BitAnd_BitOr",
            "BitXor_BitOr",
        )
    ),
    *(
        f"core/ReplaceComparisonOperator_{pair}"
        for pair in (
            "Eq_NotEq",
            "NotEq_Eq",
            "Lt_LtE",
            "LtE_Lt",
            "Gt_GtE",
            "GtE_Gt",
            "Is_IsNot",
            "IsNot_Is",
        )
    ),
    "core/ReplaceUnaryOperator_Delete_USub",
    "core/ReplaceUnaryOperator_Delete_Not",
    "core/ReplaceUnaryOperator_Delete_Invert",
    "core/AddNot",
    "core/ReplaceTrueWithFalse",
    "core/ReplaceFalseWithTrue",
    "core/ReplaceAndWithOr",
    "core/ReplaceOrWithAnd",
    "core/ReplaceBreakWithContinue",
    "core/ReplaceContinueWithBreak",
    "core/ExceptionReplacer",
    "core/NumberReplacer",
    "core/ZeroIterationForLoop",
]

# What most tests import: a mutant's tests run in a fork of a process that has it already.
LIBRARIES = (
    "elftools.elf.elffile",
    "hypothesis",
    "jinja2",
    "rich.console",
    "serial",
    "sklearn.ensemble",
    "sklearn.neighbors",
    "sklearn.datasets",
)

CONFORMANCE = "tests/laws/conformance/test_stages.py"
KNOWN_COSTS = "tests/laws/conformance/test_known_costs.py"
KINDS = "tests/kinds/test_integers.py"
KNOWN_MODELS = "tests/model/quantization/test_known_models.py"
CODEGEN = "tests/codegen/test_golden.py tests/codegen/test_generated_c.py"
QUANTIZERS = "tests/model/quantization tests/policy/rejection/test_thresholds.py"
# The tests nearest to a folder or module, as lines of arguments for pytest: first what fails fast.
# A module has the tests of the longest name that it begins with.
NEAREST = {
    "chips/avr": ["tests/chips/avr tests/codegen/linkage"],
    "extensions/conversion": ["tests/extensions/conversion"],
    "extensions/lab": ["tests/extensions/lab"],
    "extensions/proof": ["tests/extensions/proof/equality"],
    "extensions/research": ["tests/extensions/research -k 'not uno'"],
    "extensions/teaching": ["tests/extensions/teaching -k 'not uno'"],
    "data": [
        "tests/laws/corpus",
        "tests/data",
        "tests/data/test_tables_people_have.py -k 'not emulat and not board'",
    ],
    "codegen/projects": [
        "tests/codegen/projects/test_plan_file.py tests/model/test_remedies.py",
        (
            "tests/model/test_budget.py tests/codegen/linkage tests/codegen/projects "
            "tests/chips/firmware/test_build.py"
        ),
    ],
    "codegen": [
        f"{CODEGEN} {KNOWN_COSTS} -k 'renders or costs'",
        (
            "tests/codegen/test_context.py tests/codegen/test_sending.py "
            "tests/codegen/test_plans_worth_trying.py "
            "tests/codegen/test_prefix.py "
            "tests/policy/confidence/test_confidence.py "
            "tests/codegen/test_deskew.py tests/codegen/test_reach.py -k 'not emulator and not uno'"
        ),
        f"{CODEGEN} -k 'extreme or hostile or literal'",
        f"{CONFORMANCE} -k 'host_c and (projection or prototypes or pooling or window)'",
    ],
    "codegen/renderer": [f"{CODEGEN} tests/codegen/test_prefix.py -k 'renders or prefix'"],
    "codegen/context": [
        f"{CODEGEN} tests/codegen/test_context.py tests/codegen/test_sending.py -k 'not emul'",
        "tests/codegen/export/test_numbers_of_libraries.py",
    ],
    "codegen/families": ["tests/extensions/pico tests/codegen/linkage tests/cli/test_upload.py"],
    "extensions/sensing/editing": ["tests/extensions/sensing/editing"],
    "extensions/studio": ["tests/extensions/studio -k 'not journey'", "tests/extensions/studio"],
    "extensions/sensing/stream_classes": ["tests/extensions/sensing/live/test_stream_classes.py"],
    "extensions/sensing/sampling": ["tests/extensions/sensing/recording"],
    "extensions/sensing/sensor_projects": [
        "tests/extensions/sensing/recording",
        "tests/extensions/sensing/live tests/extensions/sensing/export/test_live_sketch.py",
    ],
    "extensions/sensing/windowing": [
        "tests/extensions/sensing/live -k 'not gesture'",
        "tests/extensions/sensing/live tests/extensions/sensing/export/test_live_sketch.py",
    ],
    "device": [
        (
            "tests/device tests/extensions/sensing/recording "
            "tests/extensions/sensing/live/test_listening.py"
        ),
        "tests/extensions/sensing/live/test_sources.py",
    ],
    "device/protocol": [
        "tests/device/test_protocol.py tests/laws/fuzz/test_fuzzers.py -k 'protocol or frames'",
        "tests/device",
    ],
    "codegen/kernels/words": ["tests/extensions/pico"],
    "extensions/lab/meters": [
        "tests/extensions/lab/meters tests/device -k 'meter or energy or power'"
    ],
    "model/quantization": [
        f"{KNOWN_MODELS} {QUANTIZERS} {CODEGEN} -k 'quantiz or rejection or renders'",
    ],
    "model/quantization/sensor_counts": [
        "tests/model/quantization/test_sensor_counts.py",
        "tests/extensions/sensing/live/test_another_sensor.py",
        "tests/extensions/sensing/sensors -k 'described or boards'",
    ],
    **{
        f"policy/{rule}": [
            f"tests/policy/test_every_rule.py -k '{rule} and not uno and not cycles'",
            f"tests/policy/{rule} tests/policy/test_own_answers.py -k 'not emul and not uno'",
        ]
        for rule in ("confidence", "label_sets", "value")
    },
    "policy/rejection": [
        "tests/policy/rejection/test_thresholds.py",
        "tests/policy/test_every_rule.py -k 'rejection and not uno'",
        "tests/policy/rejection -k 'not emul and not uno'",
    ],
    "model/policy": ["tests/policy -k 'not emul and not uno'"],
    "model/decision": ["tests/policy -k 'not emul and not uno'"],
    "features": [
        f"{CODEGEN} {KNOWN_COSTS} -k 'renders or costs'",
        f"{CONFORMANCE} -k 'formula or range'",
        (
            "tests/model/quantization tests/features/pooling tests/features/deskew "
            "tests/features/gradients tests/features/window_features "
            "tests/features/convolution/test_row_memory.py "
            "tests/features/convolution/test_stage.py tests/codegen/export/test_vectors.py "
            "tests/model"
        ),
    ],
    "features/convolution/train": ["tests/features/convolution/train"],
    "model/input_quantizer": [
        f"tests/model/quantization {CODEGEN} -k 'quantiz or renders'",
        "tests/codegen/test_raw_inputs.py",
    ],
    "codegen/kernels/matvec": [
        f"{CODEGEN} {KNOWN_COSTS} -k 'renders or costs'",
        f"tests/codegen/matvec {CONFORMANCE} -k 'matvec or linear or projection or dense'",
    ],
}
NEAREST |= {
    "model": [
        "tests/model",
        f"tests/model/quantization {CODEGEN} -k 'quantiz or renders'",
        f"{CONFORMANCE} -k 'formula or range'",
    ],
    "codegen/kernels": [
        f"{CODEGEN} {KNOWN_COSTS} -k 'renders or costs'",
        (
            "tests/codegen/test_plans_worth_trying.py "
            "tests/chips/assembly tests/codegen/matvec tests/features/gradients/test_listing.py "
            "tests/codegen/test_found_bounds.py"
        ),
    ],
    "kinds": [
        f"tests/codegen/test_golden.py {KNOWN_COSTS} -k 'renders or costs'",
        "tests/extensions/conversion/test_onward.py",
        f"{CONFORMANCE} -k 'formula or range'",
        "tests/model/quantization tests/kinds",
    ],
    "kinds/protonn/train": [
        (
            "tests/learn/test_base.py tests/extensions/research/paper/test_joint.py "
            "tests/learn/test_start.py tests/learn/test_outlier_exposure.py "
            "tests/learn/test_budget_rules.py tests/extensions/research/paper/test_objective.py "
            "tests/extensions/research/paper/test_trained_matrices.py"
        ),
        "tests/learn/test_estimator.py -k 'protonn or ProtoNN'",
    ],
}
NEAREST |= {
    f"kinds/{kind}/quantize": [
        f"{KNOWN_MODELS} tests/{kind} -k 'quantiz or exact'",
        KINDS,
        f"tests/{kind} {CONFORMANCE} -k 'not estimator and {kind}'",
    ]
    for kind in ("bonsai", "dense", "forest", "linear")
}
NEAREST |= {
    f"kinds/{kind}/train": [f"tests/{kind}/test_estimator.py"]
    for kind in ("bonsai", "dense", "forest", "linear")
}
NEAREST |= {
    f"{folder}/": [
        f"tests/codegen/test_golden.py {KNOWN_COSTS} -k 'renders or costs and {kind}'",
        f"{CONFORMANCE} -k 'test_stage and {kind}'",
        others,
        "tests/chips/assembly/test_statements.py",
    ]
    for folder, kind, others in (
        ("extensions/sound/features/audio", "audio", "tests/extensions/sound"),
        (
            "extensions/research/kinds/bonsai",
            "bonsai_tree",
            f"tests/extensions/research/bonsai/test_trees.py {KINDS}",
        ),
        ("features/convolution", "convolution", "tests/features/convolution"),
        ("extensions/cascades/kinds/cascade", "cascade", "tests/extensions/cascades"),
        ("codegen/kernels/decision", "decision", "tests/policy/rejection/test_thresholds.py"),
        ("kinds/dense", "dense", f"tests/kinds/dense/test_quantizer.py {KINDS}"),
        ("features/deskew", "deskew", "tests/features/deskew tests/codegen/test_deskew.py"),
        ("kinds/forest", "forest", f"tests/kinds/forest/test_quantizer.py {KINDS}"),
        ("features/gradients", "gradients", "tests/features/gradients"),
        (
            "extensions/conversion/features/int8_layer",
            "int8_layer",
            "tests/extensions/conversion/test_tflite.py",
        ),
        ("features/kernels", "kernels", "tests/features/kernels"),
        ("kinds/linear", "linear", f"tests/kinds/linear/test_quantizer.py {KINDS}"),
        ("features/pooling", "pooling", "tests/features/pooling tests/features/convolution"),
        ("kinds/projection", "projection", "tests/model/quantization"),
        (
            "kinds/protonn/prototypes",
            "prototypes",
            "tests/codegen/test_reach.py tests/model/quantization",
        ),
        ("kinds/protonn/teaching", "prototypes", "tests/extensions/teaching -k 'not uno'"),
        ("features/window_features", "window_features", "tests/features/window_features"),
    )
}


def judge_of(module: Path) -> list[str]:
    """Return the tests of a module (below the package), as lines of arguments for pytest."""
    fitting = [name for name in NEAREST if module.as_posix().startswith(name)]
    if not fitting:
        raise click.UsageError(f"no tests are known for {module}; choose of {', '.join(NEAREST)}")
    return NEAREST[max(fitting, key=len)]


@dataclass(frozen=True)
class Mutant:
    """A place in a module, and what is replaced there."""

    module: Path
    operator: str
    occurrence: int
    start: tuple[int, int]
    identity: str

    def rank(self, seed: int) -> str:
        """Return what orders mutants by chance, the same way wherever their line stands."""
        return hashlib.sha256(f"{seed} {self.identity}".encode()).hexdigest()


class Source:
    """A module's text, its syntax tree, and the parts that no test can be asked to notice."""

    def __init__(self, path: Path, module: Path) -> None:
        self.path, self.module = path, module
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.splitlines()

    @cached_property
    def _left_out(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Annotations, decorators, assertions, and zip's `strict`, which is one, too."""
        nodes: list[ast.AST] = []
        for node in ast.walk(ast.parse(self.text)):
            if isinstance(node, ast.FunctionDef):
                nodes += [*node.decorator_list, *([node.returns] if node.returns else [])]
            elif isinstance(node, ast.ClassDef):
                nodes += node.decorator_list
            elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
                nodes.append(node.annotation)
            elif isinstance(node, ast.Assert) or (
                isinstance(node, ast.keyword) and node.arg == "strict"
            ):
                nodes.append(node)
        return [
            ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
            for node in nodes
        ]

    def mutants(self) -> Iterator[Mutant]:
        """Yield all mutants of this module."""
        nodes = list(ast_nodes(get_ast(self.text)))
        same: Counter[str] = Counter()
        for name in OPERATORS:
            operator = get_operator(name)()
            positions = (
                (node, start) for node in nodes for start, _ in operator.mutation_positions(node)
            )
            for occurrence, (node, start) in enumerate(positions):
                if any(low <= start < high for low, high in self._left_out):
                    continue
                where = f"{self.module} {ASTQuery(node).get_definition_name()}"
                identity = f"{where} {self.lines[start[0] - 1].strip()} {name}"
                same[identity] += 1
                yield Mutant(self.module, name, occurrence, start, f"{identity} {same[identity]}")


def sample_of(folder: Path, module: str, size: int, seed: int) -> tuple[int, list[Mutant]]:
    """Return how many mutants a folder or module (below the package) has, and some of them."""
    package = folder / PACKAGE
    place = package / module
    paths = [place] if place.is_file() else sorted(place.rglob("*.py"))
    if not paths:
        raise click.UsageError(f"{PACKAGE / module} has no modules")
    sources = (Source(path, path.relative_to(package)) for path in paths)
    mutants = [mutant for source in sources for mutant in source.mutants()]
    return len(mutants), sorted(mutants, key=lambda mutant: mutant.rank(seed))[:size]


def copy_checkout(to: Path) -> None:
    """Copy what tests read, so that no mutant is ever made in the checkout itself."""
    kept_apart = shutil.ignore_patterns(
        ".git", ".venv", ".*_cache", ".hypothesis", "node_modules", "_build", ".pio", "gallery"
    )
    shutil.copytree(ROOT, to, ignore=kept_apart)
    (to / ".venv").symlink_to(ROOT / ".venv")


def prepare(folder: Path) -> None:
    """Let this process and its forks use a copy of the checkout; import what tests need often."""
    os.chdir(folder)
    sys.path[0] = str(folder)  # was tests/ of the checkout itself
    os.environ |= {
        "PYTHONPATH": str(folder),
        "OMP_NUM_THREADS": "1",
    }
    for name in ("PLATFORMIO_BUILD_CACHE_DIR", "PROTONN_EDGE_TEST_RUN"):
        os.environ.setdefault(name, str(folder.parent / name.lower()))
        Path(os.environ[name]).mkdir(exist_ok=True)
    for name in LIBRARIES:
        importlib.import_module(name)


def tested(judge: list[str], seconds: int, *options: str) -> str:
    """Run tests until one fails, in processes of their own; return what became of the mutant."""
    for line in judge:
        child = os.fork()
        if child == 0:
            _become_pytest([*options, *shlex.split(line)], seconds)
        _, status = os.waitpid(child, 0)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what tests started and left behind
        if status != 0:
            return "timeout" if os.WIFSIGNALED(status) else "killed"
    return "survived"


def _become_pytest(arguments: list[str], seconds: int) -> NoReturn:
    """Run pytest and exit.

    Processor time is limited, so that a computer under load kills no mutant that tests would not.
    """
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    with LOG.open("wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    options += ["--timeout", str(20 * seconds)]  # of a test that waits
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of Hypothesis
    code = 1
    try:
        code = pytest.main([*options, *arguments])
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001  (the parent's stack must not be unwound in a fork)
        traceback.print_exc()
    os._exit(code)


def check_judge(judge: list[str], seconds: int, *options: str) -> None:
    """See that tests pass without a mutant; else they would kill all."""
    if tested(judge, seconds, *options) != "survived":
        log = LOG.read_text(encoding="utf-8")
        raise click.ClickException(f"tests fail without a mutant: {judge}\n{log}")


def outcome_of(mutant: Mutant, folder: Path, seconds: int) -> tuple[str, str]:
    """Return what became of a mutant, and its difference."""
    path = folder / PACKAGE / mutant.module
    operator = get_operator(mutant.operator)()
    with use_mutation(path, operator, mutant.occurrence) as (before, after):
        outcome = tested(judge_of(mutant.module), seconds)
    changes = unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return outcome, "\n".join(list(changes)[3:])


@click.command("mutants")
@click.argument("module")
@click.option("--sample", type=click.IntRange(1), default=50, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Draws other mutants.")
@click.option(
    "--seconds",
    type=click.IntRange(1),
    default=120,
    show_default=True,
    help="Of processor time, for each process of a mutant's tests.",
)
def main(module: str, sample: int, seed: int, seconds: int) -> None:
    """Print which mutants of MODULE, a folder or file below the package, survive their tests."""
    with TemporaryDirectory(prefix="protonn-edge-mutants-") as temporary:
        folder = Path(temporary) / "checkout"
        copy_checkout(folder)
        prepare(folder)
        total, mutants = sample_of(folder, module, sample, seed)
        judges = {name: judge_of(Path(name)) for name in {str(one.module) for one in mutants}}
        for line in {line for judge in judges.values() for line in judge}:
            check_judge([line], seconds, "--collect-only")
        # A mutant may be as long and as old as its original: Python would take one for the other.
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        outcomes: Counter[str] = Counter()
        for mutant in mutants:
            started = time.monotonic()
            outcome, difference = outcome_of(mutant, folder, seconds)
            outcomes[outcome] += 1
            where = f"{mutant.module}:{mutant.start[0]} {mutant.operator.removeprefix('core/')}"
            click.echo(f"{outcome:9}{where} ({time.monotonic() - started:.0f} s)")
            if outcome == "survived":
                click.echo(difference)
                judges = {k: v for k, v in judges.items() if v != judge_of(mutant.module)}
        for judge in {tuple(judge) for judge in judges.values()}:  # that let no mutant pass
            check_judge(list(judge), seconds)
    survived = f"{outcomes['survived']} of {len(mutants)} mutants survived"
    click.echo(f"{module}: {survived}, {outcomes['timeout']} ran out of time ({total:,} in all)")


if __name__ == "__main__":
    main()
