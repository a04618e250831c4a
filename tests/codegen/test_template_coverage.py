"""`make coverage` names the lines of templates that nothing rendered."""

from __future__ import annotations

import pytest
from coverage import Coverage
from jinja2 import Environment, FileSystemLoader
from jinja2.compiler import CodeGenerator
from template_coverage import TemplateReport

from protonn_edge.system.files import resource

TEMPLATE = """{% if asked %}
yes
{% else %}
no,
{{ reason }}
{% endif %}
{% macro greeting() %}
hello
{% endmacro %}
"""


@pytest.fixture
def measured(tmp_path, monkeypatch):
    monkeypatch.setattr(Environment, "code_generator_class", CodeGenerator)  # the plugin sets it
    (tmp_path / "seen.j2").write_text(TEMPLATE)
    (tmp_path / "unseen.j2").write_text("text\n")
    coverage = Coverage(data_file=None, config_file=False, source=[str(tmp_path)])
    coverage.set_option("run:plugins", ["template_coverage"])
    environment = Environment(
        loader=FileSystemLoader(tmp_path), trim_blocks=True, lstrip_blocks=True
    )
    with coverage.collect():
        environment.get_template("seen.j2").render(asked=True)
    return coverage


def test_text_that_was_not_rendered_is_missing(measured, tmp_path):
    _, can_run, _, missing, _ = measured.analysis2(str(tmp_path / "seen.j2"))
    assert {2, 4, 8} < set(can_run)
    assert missing == [4, 5, 8]


def test_every_template_of_the_package_can_be_reported():
    templates = sorted(resource("templates").rglob("*.j2"))
    assert sum(len(TemplateReport(str(path)).lines()) for path in templates) > 1_000


def test_a_template_that_nothing_loads_is_missing_whole(measured, tmp_path):
    assert measured.analysis2(str(tmp_path / "unseen.j2"))[3] == [1]
