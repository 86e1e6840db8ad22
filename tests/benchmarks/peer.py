"""The peer: Kafka's own DumpLogSegments, fetched with Maven, run the way kafka-dump-log.sh runs it.

The class path is resolved once and kept under $KAFKATX_BENCH_HOME (default ~/.cache/kafkatx-bench); nothing of it
belongs in the repository. The JVM options are those of kafka-run-class.sh (Kafka 4.3): heap 256 MB, G1.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

VERSION = "4.3.1"
MAIN_CLASS = "org.apache.kafka.tools.DumpLogSegments"
JVM_OPTIONS = (
    "-Xmx256m",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-XX:MaxInlineLevel=15",
    "-Djava.awt.headless=true",
)
POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>kafkatx.bench</groupId><artifactId>peer</artifactId><version>1</version>
<dependencies><dependency>
<groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>{VERSION}</version>
</dependency></dependencies></project>
"""


def home() -> Path:
    """Where the class path is kept between runs."""
    return Path(os.environ.get("KAFKATX_BENCH_HOME", "~/.cache/kafkatx-bench")).expanduser()


def is_available() -> bool:
    """Whether the peer can run: Java, and either the kept class path or Maven to fetch it."""
    return shutil.which("java") is not None and (_kept().exists() or shutil.which("mvn") is not None)


@cache
def class_path() -> str:
    """The runtime class path of kafka-tools; resolved by Maven the first time."""
    if not _kept().exists():
        _resolve(_kept())
    return _kept().read_text().strip()


def dump_log(files: Iterable[Path], *options: str) -> list[str]:
    """The command that dumps these files; shallow (batch headers, CRC checked) unless options ask for more."""
    names = ",".join(str(file) for file in files)
    return ["java", *JVM_OPTIONS, "-cp", class_path(), MAIN_CLASS, "--files", names, *options]


def java_version() -> str:
    """The first line of `java -version`."""
    return subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr.splitlines()[0]


def _kept() -> Path:
    return home() / f"kafka-tools-{VERSION}.classpath"


def _resolve(target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pom.xml").write_text(POM)
        output = Path(folder, "classpath")
        goal = ["dependency:build-classpath", "-DincludeScope=runtime", f"-Dmdep.outputFile={output}"]
        done = subprocess.run(["mvn", "-B", "-ntp", "-q", *goal], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"Maven could not resolve kafka-tools {VERSION}:\n{done.stdout[-2000:]}")
        shutil.copyfile(output, target.with_suffix(".new"))
    target.with_suffix(".new").rename(target)
