"""The command line: one thin module per command, each registered here."""

from __future__ import annotations

import click

from protonn_edge import __version__
from protonn_edge.cli.boards import boards_command
from protonn_edge.cli.build import build_command
from protonn_edge.cli.calibrate import calibrate_command
from protonn_edge.cli.convert import convert_command
from protonn_edge.cli.data import data_command
from protonn_edge.cli.demo import demo_command
from protonn_edge.cli.emulate import emulate_command
from protonn_edge.cli.export import export_command
from protonn_edge.cli.hil import hil_command
from protonn_edge.cli.inspect import inspect_command
from protonn_edge.cli.report import report_command
from protonn_edge.cli.train import train_command
from protonn_edge.cli.tune import tune_command
from protonn_edge.cli.verify import verify_command
from protonn_edge.cli.windows import windows_command


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="protonn-edge")
def main() -> None:
    """Train ProtoNN classifiers and run them, measured, on 8-bit microcontrollers.

    Every command takes --json: one object on standard output, text for people on standard error.
    Exit codes: 0 done, 1 a check failed, 2 bad input or usage, 70 a bug of this program (set
    PROTONN_EDGE_TRACEBACK=1 to see where).
    """


main.add_command(demo_command)
main.add_command(data_command)
main.add_command(windows_command)
main.add_command(train_command)
main.add_command(tune_command)
main.add_command(convert_command)
main.add_command(calibrate_command)
main.add_command(inspect_command)
main.add_command(build_command)
main.add_command(export_command)
main.add_command(verify_command)
main.add_command(hil_command)
main.add_command(report_command)
main.add_command(emulate_command)
main.add_command(boards_command)
