"""A plugin of coverage.py that counts the lines of Jinja's templates, for ``make coverage``.

Jinja compiles a template to Python under the template's own file name, and remembers which line of
it each line of code was made of. It forgets runs of plain text, which is most of a template of C:
while coverage is measured, its code generator notes where they begin. Text and tags on one line
count as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType

from coverage import CoveragePlugin, FileReporter, FileTracer
from coverage.plugin_support import Plugins
from jinja2 import Environment, Template, nodes
from jinja2.compiler import CodeGenerator, Frame

_SUFFIX = ".j2"
_NO_LINE = (-1, -1)


class _TextNoted(CodeGenerator):
    """Generate code that knows the lines of plain text, too."""

    def visit_Output(self, node: nodes.Output, frame: Frame) -> None:  # noqa: N802
        self.newline(node)
        super().visit_Output(node, frame)


class TemplateLines(FileTracer):
    """From lines of code that Jinja made to those of the template."""

    def __init__(self, path: str) -> None:
        self._path = path

    def source_filename(self) -> str:
        return self._path

    def line_number_range(self, frame: FrameType) -> tuple[int, int]:
        template = frame.f_globals.get("__jinja_template__")
        if not isinstance(template, Template):  # the module is being made; nothing is rendered yet
            return _NO_LINE
        line = _lines_by_code(template).get(frame.f_lineno)
        return _NO_LINE if line is None else (line, line)


@cache
def _lines_by_code(template: Template) -> dict[int, int]:
    """Return the template's line for each line of code that begins one.

    Code between these is not counted: what ends a loop would count for the last line of its body.
    """
    return {code: line for line, code in template.debug_info}


class TemplateReport(FileReporter):
    """The lines of a template that can run."""

    def lines(self) -> set[int]:
        # As the package's environments: whether a line break is text decides where text begins.
        environment = Environment(trim_blocks=True, lstrip_blocks=True)
        source = self.source()
        # Nothing is rendered: a filter of the package's own needs its name alone.
        for used in environment.parse(source).find_all(nodes.Filter):
            environment.filters.setdefault(used.name, str)
        return {line for line, _ in environment.from_string(source).debug_info}


class TemplateCoverage(CoveragePlugin):
    """The plugin."""

    def file_tracer(self, filename: str) -> FileTracer | None:
        return TemplateLines(filename) if filename.endswith(_SUFFIX) else None

    def file_reporter(self, filename: str) -> FileReporter:
        return TemplateReport(filename)

    def find_executable_files(self, src_dir: str) -> Iterator[str]:
        return map(str, Path(src_dir).rglob(f"*{_SUFFIX}"))


def coverage_init(registry: Plugins, _options: dict[str, str]) -> None:
    """Register the plugin, as coverage.py wants it."""
    Environment.code_generator_class = _TextNoted
    registry.add_file_tracer(TemplateCoverage())
