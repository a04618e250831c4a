"""Run the SCons of the Python environment that PlatformIO runs in."""

import SCons.Script

SCons.Script.main()
