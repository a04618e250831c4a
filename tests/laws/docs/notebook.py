"""The notebook of the documentation: read, run in this process, and written with its outputs.

``python tests/laws/docs/notebook.py`` writes the outputs anew; read the difference.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parents[3] / "docs" / "first-model.ipynb"

Cell = dict[str, Any]


def cells() -> list[Cell]:
    """Return the cells of the notebook."""
    found: list[Cell] = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    return found


def outputs_of(notebook: list[Cell], folder: Path) -> list[list[Cell]]:
    """Run the code of all cells in a folder, and return the outputs of each code cell.

    They are what it prints, and what its last expression is shown as, as Jupyter stores them.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    code = ["".join(cell["source"]) for cell in notebook if cell["cell_type"] == "code"]
    with contextlib.chdir(folder):
        return [_outputs(text, number, names) for number, text in enumerate(code, 1)]


def _outputs(text: str, number: int, names: dict[str, Any]) -> list[Cell]:
    tree = ast.parse(text)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        shown = last and eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    outputs: list[Cell] = []
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines})
    if shown is not None:
        data = {"text/plain": [repr(shown)]}
        if hasattr(shown, "_repr_html_"):
            data["text/html"] = [shown._repr_html_()]
        result = {"data": data, "execution_count": number, "metadata": {}}
        outputs.append({**result, "output_type": "execute_result"})
    return outputs


def renew() -> None:
    """Write the notebook with the outputs of its code."""
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        made = iter(outputs_of(notebook["cells"], Path(folder)))
    number = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            cell |= {"outputs": next(made), "execution_count": number}
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    os.environ.setdefault("PLATFORMIO_SETTING_ENABLE_TELEMETRY", "no")
    renew()
