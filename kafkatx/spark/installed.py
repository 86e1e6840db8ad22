"""Says in one line what Spark lacks on this machine, before it would say so with a traceback: the extra, or a Java."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from socket import create_connection
from urllib.parse import urlsplit

from kafkatx.terms.errors import UsageError
from kafkatx.terms.regex import regex

FIRST_SPARK = (4, 0)
"""The first with Python data sources."""

FIRST_JAVA = 17
JAVA_BEFORE_SPARK_4_2 = 23
"""Spark 4.0 and 4.1 call Subject.getSubject, which Java 23 and later refuse."""

EXTRA = "pip install 'kafkatx[spark]'"
CONNECT = "pip install 'pyspark[connect]'"
CONNECT_PORT = 15002
SECONDS_TO_ANSWER = 10
PROXIES = {"grpc_proxy", "https_proxy", "http_proxy"}
"""Where one is set the server need not be reachable from here."""

VERSION = regex(r'version "(?:1\.)?(\d+)')


def require_pyspark() -> None:
    """Raise UsageError unless PySpark is there, new enough, and pandas with it (PySpark asks for it at run time)."""
    missing = [name for name in ("pyspark", "pandas") if find_spec(name) is None]
    if missing:
        raise UsageError(f"Spark needs {' and '.join(missing)}: {EXTRA}")
    if spark_version() < FIRST_SPARK:
        import pyspark

        raise UsageError(f"PySpark {pyspark.__version__} is too old, 4.0 is needed: {EXTRA}")


def spark_version() -> tuple[int, ...]:
    """First two numbers of PySpark's version."""
    import pyspark

    return tuple(int(number) for number in re.findall(r"\d+", pyspark.__version__)[:2])


def require_connect(url: str) -> None:
    """Raise UsageError unless the client of Spark Connect is there and its server answers.

    PySpark ends the process without a word where the client is not whole, and tries for ten minutes where nobody is.
    """
    missing = [name for name in ("grpc", "grpc_status", "google") if find_spec(name) is None]
    if missing:
        raise UsageError(f"--master {url} needs Spark Connect's client ({', '.join(missing)}): {CONNECT}")
    place = urlsplit(url)
    if PROXIES & {name.lower() for name in os.environ}:
        return
    try:
        create_connection((place.hostname, place.port or CONNECT_PORT), timeout=SECONDS_TO_ANSWER).close()
    except OSError as error:
        raise UsageError(f"--master {url}: nobody answers there ({error.strerror or error})") from None


def require_java() -> None:
    """Raise UsageError unless the Java that Spark would start is there and of a release that it runs on."""
    java, wanted = java_program(), _wanted()
    if java is None:
        home = os.environ.get("JAVA_HOME")
        where = f"JAVA_HOME={home} has none" if home else "there is none"
        raise UsageError(f"Spark needs Java {wanted}, and {where}: install one, or set JAVA_HOME to its folder")
    if not runs_spark(found := java_release(java)):
        what = f"is Java {found}" if found else "does not start"
        raise UsageError(f"Spark needs Java {wanted}, and {java} {what}: install one and set JAVA_HOME to its folder")


def java_program() -> str | None:
    """The Java that Spark starts: that of JAVA_HOME, else the first on PATH."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=str(Path(home, "bin"))) if home else shutil.which("java")


def java_release(java: str) -> int | None:
    """Return the release of a `java` (8, 17, 21); None where it doesn't start, as the stand-in of macOS."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, errors="replace", check=False)
    except OSError:
        return None
    found = VERSION.search(done.stderr + done.stdout)
    return int(found[1]) if found else None


def runs_spark(release: int | None) -> bool:
    """Whether the installed PySpark runs on a release of Java."""
    if release is None or release < FIRST_JAVA:
        return False
    return release < JAVA_BEFORE_SPARK_4_2 or spark_version() >= (4, 2)


def _wanted() -> str:
    return "17 or newer" if spark_version() >= (4, 2) else "17 or 21"
