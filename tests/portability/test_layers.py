"""No room of the package imports one above it, and no modules import each other in a circle.

The rooms stand in a table of docs/architecture.md, the lowest first.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from checkout import CHECKOUT

import protonn_edge

PACKAGE = Path(protonn_edge.__file__).parent
SHIM = PACKAGE / "chips" / "toolchain" / "shim"  # PlatformIO's: it runs where SCons does
TABLE = "| room | contents |"

# The modules of a rule of a policy that belong to a room above `policy`, by their names.
PARTS_OF_RULES = {
    "convert": "conversion",
    "train": "training",
    "targets": "training",
    "held_out": "training",
    "report": "report",
    "tuning": "tuning",
    "commands": "cli",
    "steps": "cli",
}

WHOLE = ("", "__main__")  # the package's own names, imported when they are used, and its program

OF_KINDS = {
    r"\.teaching\b": "teaching",
    r"\.precision\b": "codegen",
    r"\.convert\b": "conversion",
    r"\.(train|parameters)\b": "training",
    r"\.tuning\b": "tuning",
}
"""The modules that kinds and features add to a room that is above theirs."""

Imports = set[tuple[str, str]]


@cache
def imports_of(package: Path) -> Imports:
    """Return who imports what within a package, by the names below it."""
    found = set()
    for path in [*package.rglob("*.py"), *package.rglob("*.pyi")]:
        importer = name_of(path, package)
        if not path.is_relative_to(SHIM) and importer not in WHOLE:
            found |= {(importer, name) for name in imported_by(path, package)}
    return found


def name_of(path: Path, package: Path) -> str:
    """Return a module's name below its package; that of a package is its folder's."""
    parts = path.relative_to(package).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_by(path: Path, package: Path) -> Iterator[str]:
    """Yield what a module imports of its package, wherever it does so."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports from where it stands"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            top, _, below = name.partition(".")
            if top == package.name:
                yield module_at(below, package)


def module_at(name: str, package: Path) -> str:
    """Return the module that a name is of: it, or the one that it is taken from."""
    place = package.joinpath(*name.split("."))
    is_module = place.with_suffix(".py").exists() or (place / "__init__.py").exists()
    return name if is_module else name.rpartition(".")[0]


def rooms() -> list[str]:
    """Return the rooms of the table, the lowest first."""
    text = (CHECKOUT / "docs" / "architecture.md").read_text("utf-8")
    rows = text.split(TABLE, 1)[1].split("\n\n", 1)[0]
    return re.findall(r"^\| `(\w+)` \|", rows, re.MULTILINE)


def upwards(imports: Imports, order: list[str]) -> Imports:
    """Return the imports from a room above."""
    pairs = {(who, what) for who, what in imports if who and what}  # not of the version
    return {(who, what) for who, what in pairs if level(who, order) < level(what, order)}


def level(name: str, order: list[str]) -> float:
    """Return the place of a module's room; what a kind or a rule adds to a room is above that."""
    room = name.partition(".")[0]
    part = re.match(r"policy\.\w+\.(\w+)", name)
    if part and part[1] in PARTS_OF_RULES:
        return order.index(PARTS_OF_RULES[part[1]]) + 0.5
    if re.fullmatch(r"(\w+|kinds\.\w+\.\w+)\.(commands|monitor)(\.\w+)?", name):
        return max(order.index("cli") + 0.5, order.index(room))  # a room may be above the commands
    for pattern, of in OF_KINDS.items():
        if room in ("features", "kinds") and re.search(pattern, name):
            return order.index(of) + 0.5
    return order.index(room)


def circle(imports: Imports) -> list[str]:
    """Return modules of which each imports the next, and the last one the first; or nothing."""
    graph: dict[str, set[str]] = {}
    for who, what in imports:
        graph.setdefault(who, set()).add(what)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def test_every_room_has_its_place() -> None:
    found = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    found = {name for name in found if not name.startswith("__")}
    assert sorted(rooms()) == sorted(found)


def test_no_import_runs_upwards() -> None:
    assert upwards(imports_of(PACKAGE), rooms()) == set()


def test_no_imports_run_in_circles() -> None:
    imports = imports_of(PACKAGE)
    assert circle(imports) == []


def test_the_analysis_of_linked_programs_can_be_used_alone() -> None:
    used = {what.partition(".")[0] for who, what in imports_of(PACKAGE) if who.startswith("avr.")}
    assert used <= {"avr", "cores", "errors", "system"}


def test_only_what_gathers_the_data_of_a_report_builds_firmware() -> None:
    building = {"codegen.projects.project", "report.gathering", "chips.toolchain.platformio"}
    of_report = (each for each in imports_of(PACKAGE) if each[0].startswith("report."))
    used = {what for who, what in of_report if who != "report.gathering"}
    assert used & building == set()


def test_an_import_that_runs_upwards_is_found(tmp_path: Path) -> None:
    package = tmp_path / "house"
    for name, text in {
        "cellar/jam.py": "from house import __version__\nfrom house.roof.tiles import red\n",
        "roof/__init__.py": "",
        "roof/tiles.py": "def red():\n    from house.cellar import jam\n",
        "cellar/__init__.py": "",
        "__init__.py": "__version__ = '1'\n",
    }.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    imports = imports_of(package)
    assert upwards(imports, ["cellar", "roof"]) == {("cellar.jam", "roof.tiles")}
    assert set(circle(imports)) == {"cellar.jam", "roof.tiles"}


def test_the_picture_has_every_room() -> None:
    """The rooms are drawn in docs/house.svg."""
    drawn = re.findall(r'class="name"[^>]*>(\w+)<', (CHECKOUT / "docs" / "house.svg").read_text())
    assert sorted(drawn) == sorted(rooms())
