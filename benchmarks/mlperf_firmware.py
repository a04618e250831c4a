"""Build firmware with the serial protocol of MLPerf Tiny, and the data for its runner.

    python benchmarks/mlperf_firmware.py MODEL --task kws01 [--energy] [--data FILE] [-o FOLDER]

writes a project for `protonn-edge upload`; benchmarks/mlperf_tiny/README.md shows how to go on.
"""

from __future__ import annotations

from pathlib import Path

import click
from mlperf_tiny.firmware import Benchmark, build_benchmark

from protonn_edge.boards import load_board
from protonn_edge.chain.file import load_model
from protonn_edge.chain.model import expected_by
from protonn_edge.datasets import load_points
from protonn_edge.errors import ProtoNNEdgeError
from protonn_edge.export.folder import write_folder
from protonn_edge.projects.project import BuildOptions

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.argument("model_file", metavar="MODEL", type=_FILE)
@click.option("--task", required=True, help="The benchmark's task, such as kws01.")
@click.option("--energy", is_flag=True, help="Mark predictions on PB1 for a power meter.")
@click.option("--data", type=_FILE, help="Labelled points, which become the runner's data.")
@click.option("--board", "board_name", default="uno", show_default=True)
@click.option(
    "-o", "folder", type=click.Path(path_type=Path), default=Path("mlperf"), show_default=True
)
def main(
    model_file: Path, task: str, energy: bool, data: Path | None, board_name: str, folder: Path
) -> None:
    """Write firmware for MLPerf Tiny, if it fits the board and its scores equal NumPy's."""
    try:
        benchmark, model = Benchmark(task, energy), load_model(model_file)
        board = load_board(board_name)
        points = None if data is None else load_points(data, expected_by(model))
        done = build_benchmark(model, board, benchmark, BuildOptions(), points)
        write_folder(folder, done.files)
    except ProtoNNEdgeError as error:
        raise click.ClickException(str(error)) from error
    usage, n = done.usage, 0 if points is None else len(points[1])
    click.echo(
        f"{folder}: firmware for {task} on {board.name}, {usage.flash_bytes:,} B of flash and "
        f"{usage.sram_bytes:,} B of SRAM; {n:,} points"
    )


if __name__ == "__main__":
    main()
