"""Who only reads a small table does not wait for scikit-learn or pandas to be imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import sys
from pathlib import Path
from protonn_edge import load_dataset
dataset = load_dataset(Path(sys.argv[1]))
assert dataset.notices, "the label is found, which is said"
print("sklearn" in sys.modules, "pandas" in sys.modules)
"""


def test_reading_does_not_import_scikit_learn_or_pandas(tmp_path: Path) -> None:
    rows = "".join(f"{i % 3}.5,{i * 7 % 5}.25,{i % 2}\n" for i in range(40))
    (tmp_path / "d.csv").write_text(rows)
    command = [sys.executable, "-c", _PROGRAM, str(tmp_path / "d.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
