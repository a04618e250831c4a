"""Compile, link and upload with the AVR tools on PATH.

The flags equal the stock platform's for a program without a framework, so that `build_flags` and
`build_unflags` of a platformio.ini mean the same here.
"""

import json
from pathlib import Path

from SCons.Script import AlwaysBuild, Builder, Default, DefaultEnvironment

env = DefaultEnvironment()
# In a file of its own, because a project with our own settings is compiled without SCons.
flags = Path(env.PioPlatform().get_dir(), "builder", "flags.json")

env.Replace(
    AR="avr-gcc-ar",
    AS="avr-as",
    CC="avr-gcc",
    CXX="avr-g++",
    RANLIB="avr-gcc-ranlib",
    ARFLAGS=["rc"],
    PROGNAME="firmware",
    PROGSUFFIX=".elf",
    SIZETOOL="avr-size",
    SIZECHECKCMD="$SIZETOOL -A -d $SOURCES",
    SIZEPROGREGEXP=r"^(?:\.text|\.data)\s+(\d+).*",
    SIZEDATAREGEXP=r"^(?:\.data|\.bss|\.noinit)\s+(\d+).*",
    UPLOADCMD="avrdude $UPLOADERFLAGS -p $BOARD_MCU -c $UPLOAD_PROTOCOL -b $UPLOAD_SPEED"
    ' -P "$UPLOAD_PORT" -D -U "flash:w:$SOURCE:i"',
)
if env.GetProjectOption("upload_protocol", None):
    over_serial_line = env.GetProjectOption("upload_speed", None) is not None
else:
    over_serial_line = "upload.speed" in env.BoardConfig()
if not over_serial_line:  # by a programmer, which erases the chip and has its own port
    env.Replace(
        UPLOADCMD='avrdude $UPLOADERFLAGS -p $BOARD_MCU -c $UPLOAD_PROTOCOL -U "flash:w:$SOURCE:i"'
    )
env.Append(
    ASFLAGS=["-mmcu=$BOARD_MCU"],
    ASPPFLAGS=["-x", "assembler-with-cpp"],
    **json.loads(flags.read_text("utf-8")),
    CXXFLAGS=["-std=gnu++11", "-fno-exceptions", "-fno-threadsafe-statics"],
    CPPDEFINES=[("F_CPU", "$BOARD_F_CPU")],
    LIBS=["m"],
    BUILDERS={
        "ElfToHex": Builder(
            action=env.VerboseAction(
                "avr-objcopy -O ihex -R .eeprom $SOURCES $TARGET", "Building $TARGET"
            ),
            suffix=".hex",
        )
    },
)

elf = env.BuildProgram()
hex_file = env.ElfToHex("$BUILD_DIR/${PROGNAME}", elf)
env.Depends(hex_file, "checkprogsize")

looking = [env.VerboseAction(env.AutodetectUploadPort, "Looking for upload port...")]
if not over_serial_line:
    looking = []
env.AddPlatformTarget(
    "upload", hex_file, [*looking, env.VerboseAction("$UPLOADCMD", "Uploading $SOURCE")], "Upload"
)
AlwaysBuild(env.Alias("buildprog", hex_file, hex_file))
Default("buildprog")
