"""Examples for every command, shown at the end of its help."""

from __future__ import annotations

EXAMPLES = {
    "demo": ["-o demo"],
    "data": ["train.csv", "nuts.csv --label nut --drop when --delimiter semicolon"],
    "logger": ["--sensor mpu6050 --rate 100 -o logger"],
    "record": ["-o recording.csv --label rest --label wave --session anna"],
    "windows": ["recording.csv -o windows.npz --window 128 --stride 32 --test 0.3"],
    "train": [
        "train.csv -o model.npz",
        "train.csv -o small.npz --budget 2kB --holdout 0.2",
        "windows.npz -o model.npz --features mean,deviation,min,max,crossings,bands:4",
        "images.npz -o digits.npz --image-shape 28x28 --gradients 4x4 --deskew",
    ],
    "tune": [
        "train.csv -o model.npz --timeout 60",
        "train.csv -o model.npz --max-flash 8000 --max-latency-ms 1 --search search.jsonl",
    ],
    "convert": ["svm.skops --data train.csv -o model.npz"],
    "calibrate": ["model.npz calibration.csv --rejection 1% -o rejecting.npz"],
    "inspect": ["model.npz --data test.csv"],
    "predict": ["model.npz new.csv -o predicted.csv"],
    "build": ["model.npz", "model.npz --board nano --max-sram 400 --data test.csv --max-drop 0.5"],
    "upload": ["", "--port /dev/ttyACM0"],
    "monitor": ["--project live", "--emulate --sensor mpu6050=wave.csv"],
    "export": ["model.npz --arduino digits", "model.npz --c digits --data test.csv"],
    "verify": ["model.npz test.csv"],
    "hil": ["test.csv --emulate -o results.csv", "test.csv --port /dev/ttyACM0 -o results.csv"],
    "report": ["results.csv --data test.csv --open"],
    "emulate": [".pio/build/uno/firmware.elf --pty uno"],
    "boards": ["", "my_board.toml"],
}
"""What follows the command's name; the first is the most common use."""


def epilog_of(name: str) -> str:
    """Return the examples of a command as its help shows them, or nothing."""
    lines = [f"  protonn-edge {name} {words}".rstrip() for words in EXAMPLES.get(name, ())]
    return "\n".join(["\b", "Examples:" if len(lines) > 1 else "Example:", *lines]) if lines else ""
