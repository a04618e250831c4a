"""``protonn-edge logger``: Write firmware that samples a sensor at a steady rate."""

from __future__ import annotations

from pathlib import Path

from protonn_edge.boards import load_board
from protonn_edge.cli import options
from protonn_edge.cli.command import OUTPUT, Output, command, option
from protonn_edge.cli.upload import upload, upload_line
from protonn_edge.export.folder import LOGGER, check_folder, write_folder
from protonn_edge.projects.folder import sketch_name
from protonn_edge.projects.sensor_projects import logger_of
from protonn_edge.sensors import sensor_kind
from protonn_edge.system.shell import command_line


@command(
    "logger",
    needs={"--port": "--upload"},
    apart={"--upload": "--arduino"},
    examples=("--sensor mpu6050 --rate 100 -o logger",),
)
def logger_command(
    names: tuple[str, ...] = option(
        "The sensor: a0 to a5 (repeat the option for more pins), microphone (on A0), adxl345, "
        "adxl345-spi, bme280, bmi160, hx711, lsm6ds3, max30102, mpu6050, or a .toml file that "
        "describes another sensor.",
        flag="--sensor",
        multiple=True,
        required=True,
    ),
    rate: float = option(
        "Samples per second of each channel.", options.FiniteRange(0, min_open=True), required=True
    ),
    output: Path = option("The folder of the project.", options.FOLDER, shown=Path("logger")),
    arduino: bool = option(
        "Write a sketch for the Arduino IDE instead of a PlatformIO project.", is_flag=True
    ),
    baud: int | None = options.baud_rate(
        "Baud rate of the serial line.  [default: the board's rate, or a higher one if the board's "
        "is too slow]"
    ),
    uploads: bool = options.UPLOAD,
    port: str | None = options.PORT,
    board_name: str = options.BOARD,
    out: Output = OUTPUT,
) -> None:
    """Write firmware that samples a sensor at a steady rate, for 'record' to read.

    The output is a PlatformIO project or, with --arduino, a sketch. A timer starts each sample.
    Samples are sent over the serial line in numbered frames with checksums, so no loss goes
    undetected.
    """
    board = load_board(board_name)
    logger = logger_of([sensor_kind(name) for name in names], rate, board, baud or 0)
    sampling = logger.sampling
    files = logger.sketch(sketch_name(output)) if arduino else logger.firmware()
    check_folder(output, LOGGER)
    write_folder(output, files, LOGGER)
    kind = "a sketch" if arduino else "a PlatformIO project"
    out.say(
        f"{output}: {kind} that logs {sampling.name} at {sampling.actual_rate:.6g} Hz, "
        f"{logger.bytes_a_second:,.0f} bytes a second at {logger.baud:,} baud"
    )
    done = upload(out, output, port) if uploads else None
    if not (arduino or uploads):
        out.say(f"  upload: {upload_line(output, board.environment)}")
    record = ["protonn-edge", "record", "-o", "recording.csv", "--label", "NAME"]
    record += options.board_words(board_name)
    record += [] if logger.baud == board.baud else ["--baud", str(logger.baud)]
    out.say(f"  record: {command_line(record)}")
    out.finish(
        {
            "folder": str(output),
            "files": sorted(files),
            "sensors": [kind.name for kind in sampling.kinds],
            "channels": list(sampling.channels),
            "rate": sampling.actual_rate,
            "baud": logger.baud,
            "bytes_per_second": logger.bytes_a_second,
            "upload": done,
        }
    )
