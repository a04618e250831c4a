"""Compile and link for this computer, as the stock platform does."""

from SCons.Script import AlwaysBuild, Default, DefaultEnvironment

env = DefaultEnvironment()
env.Replace(PROGNAME="program", SIZETOOL=None)

program = env.BuildProgram()
AlwaysBuild(env.Alias("buildprog", program, program))
Default("buildprog")
