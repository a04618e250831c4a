"""A template is compiled once, and again after any change."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from protonn_edge.codegen.compiled_templates import CompiledTemplates


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of compiled templates."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "protonn-edge" / "templates"


def rendered(text: str, *, autoescape: bool = False) -> str:
    """Render a template as a new process would."""
    environment = Environment(
        loader=DictLoader({"x": text}),
        bytecode_cache=CompiledTemplates(),
        autoescape=autoescape,
        optimized=False,
    )
    environment.filters["double"] = lambda value: 2 * value
    return environment.get_template("x").render(name="<a>")


def test_a_template_is_compiled_once_for_its_text_and_settings(folder: Path) -> None:
    for text, escapes, wanted in [
        ("1 {{ name }}", False, "1 <a>"),
        ("1 {{ name }}", True, "1 &lt;a&gt;"),
        ("2 {{ name }}", False, "2 <a>"),
    ]:
        assert [rendered(text, autoescape=escapes) for _ in range(2)] == [wanted] * 2
    assert len([*folder.iterdir()]) == 3


def test_a_compiled_template_is_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered("{{ 3 | double }}")
    monkeypatch.setattr(Environment, "compile", lambda *_, **__: pytest.fail("compiled again"))
    assert rendered("{{ 3 | double }}") == "6"
    assert len([*folder.iterdir()]) == 1


@pytest.mark.parametrize("content", [b"", b"\x00" * 64, b"i\x01\x00\x00\x00"])
def test_a_file_that_is_no_template_is_compiled_again(
    content: bytes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered("{{ name }}")
    from protonn_edge.system.kept_results import KeptResults

    monkeypatch.setattr(KeptResults, "get", lambda *_: content)
    assert rendered("{{ name }}") == "<a>"
