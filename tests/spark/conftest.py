"""One Spark for the whole run: a JVM takes some ten seconds to start, so every test shares it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.spark.java import stand_in, users_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


OF_THE_USER = (
    "PYSPARK_PYTHON",
    "PYSPARK_SUBMIT_ARGS",
    "SPARK_CONF_DIR",
    "SPARK_HOME",
    "SPARK_LOCAL_IP",
    "SPARK_REMOTE",
)
"""Variables that would make another Spark of the tests' one."""
SOON_WARM = "spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1\n"
"""Settings of the tests' Spark: what runs for minutes, in small jobs, is not worth the second compiler of the JVM."""


@pytest.fixture(scope="session")
def java_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """See to it that this process and those it starts find a Java that Spark runs on: the user's, else the wheel's."""
    with pytest.MonkeyPatch.context() as patch:
        for name in OF_THE_USER:
            patch.delenv(name, raising=False)
        settings = tmp_path_factory.mktemp("spark-conf")
        (settings / "spark-defaults.conf").write_text(SOON_WARM)
        patch.setenv("SPARK_CONF_DIR", str(settings))
        if users_java() is None:
            patch.setenv("JAVA_HOME", str(stand_in(tmp_path_factory.mktemp("java-home"))))
        yield


@pytest.fixture(scope="session")
def spark(java_home: None) -> Iterator["SparkSession"]:
    """Start Spark on two cores of this machine, as the product does, with a heap of 1 GiB."""
    from kafkatx.spark.session import session

    with session("local[2]") as started:
        yield started
