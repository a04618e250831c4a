"""Write the list of all sentences about wrong input, ``sentences.txt``, which is reviewed as text.

Run it as ``python tests/laws/sentences/renew.py`` after a change of a sentence. Other tests ask for
the place and the kind of an error, not for its words.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[3] / "protonn_edge"
_MAKERS = (
    "CheckFailed",
    "DoesNotFit",
    "beyond",
    "lacking",
    "refuse",
    "refuse_given",
    "refuse_without_effect",
    "several_labels",
    "unneeded",
)
LISTED = Path(__file__).with_name("sentences.txt")


def sentences() -> str:
    """Return the list: below each module, its sentences in the order of the code."""
    blocks = []
    for path in sorted(PACKAGE.rglob("*.py")):
        texts = list(_calls(ast.parse(path.read_text("utf-8"))))
        if texts:
            name = path.relative_to(PACKAGE).as_posix()
            blocks.append("\n".join([f"{name}:", *(f"  {text}" for text in texts)]))
    return "\n\n".join(blocks) + "\n"


def _calls(tree: ast.AST) -> Iterator[str]:
    """Yield the sentence of each call that makes an error, or refuses a training."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_error(node.func)]
    for call in sorted(calls, key=lambda each: (each.lineno, each.col_offset)):
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        given = given[-1:] if _name_of(call.func) == "refuse_without_effect" else given
        for argument in given:
            if text := _text(argument):
                yield text


def _name_of(function: ast.expr) -> str:
    return str(getattr(function, "attr", getattr(function, "id", "")))


def _is_error(function: ast.expr) -> bool:
    name = _name_of(function)
    return name.endswith("Error") or name in _MAKERS


def _text(node: ast.expr) -> str:
    """Return a text with its values in braces; empty for other expressions and single words."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value if " " in node.value else ""
    if not isinstance(node, ast.JoinedStr):
        return ""
    return "".join(
        each.value if isinstance(each, ast.Constant) else f"{{{_value(each)}}}"
        for each in node.values
        if isinstance(each, ast.Constant | ast.FormattedValue)
    )


def _value(node: ast.expr) -> str:
    """Return the last name in an expression, so that the list changes with words alone."""
    names = [
        getattr(each, "attr", getattr(each, "id", ""))
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute | ast.Name)
    ]
    return names[0] if names else "..."


if __name__ == "__main__":
    LISTED.write_text(sentences(), "utf-8")
