"""A real broker of Kafka in a folder, fetched by Maven; it can be killed, and lose what no disk had got yet."""

import random
import shutil
import socket
import subprocess
import time
from pathlib import Path

from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import KafkaError

RELEASE = "3.9.1"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>a</groupId><artifactId>a</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{release}</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-reload4j</artifactId><version>1.7.36</version></dependency>
</dependencies></project>
"""
LOG4J = """log4j.rootLogger=INFO, F
log4j.appender.F=org.apache.log4j.RollingFileAppender
log4j.appender.F.File={log}
log4j.appender.F.MaxFileSize=400KB
log4j.appender.F.MaxBackupIndex=50
log4j.appender.F.layout=org.apache.log4j.PatternLayout
log4j.appender.F.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
SETTINGS = """process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.quorum.voters=1@127.0.0.1:{controller}
log.dirs={data}
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=2
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.segment.bytes=20000
log.cleaner.dedupe.buffer.size=4194304
log.cleaner.backoff.ms=300
log.cleaner.min.cleanable.ratio=0.01
log.retention.check.interval.ms=2000
log.initial.task.delay.ms=1000
log.index.size.max.bytes=4096
"""
TOPICS = {
    "orders": {"segment.bytes": "30000"},
    "accounts": {"segment.bytes": "20000", "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"},
    "events": {"segment.bytes": "20000", "retention.bytes": "60000", "file.delete.delay.ms": "1000"},
}


def java() -> str | None:
    """Return the Java of this machine, None where it has none, or no Maven to fetch a broker with."""
    return shutil.which("java") if shutil.which("mvn") else None


class Broker:
    """A broker of one node with three topics: plain, compacted, and with retention by size."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data, self.logs = folder, folder / "broker-1", folder / "logs"
        self.logs.mkdir(parents=True)
        self.port, controller = _free_ports()
        self.classpath = self._fetched()
        (folder / "log4j.properties").write_text(LOG4J.format(log=self.logs / "server.log"))
        settings = SETTINGS.format(port=self.port, controller=controller, data=self.data)
        (folder / "server.properties").write_text(settings)
        tool = ["kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", self._settings]
        subprocess.run([*self._java, *tool], check=True, capture_output=True)
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def _settings(self) -> str:
        return str(self.folder / "server.properties")

    @property
    def _java(self) -> list[str]:
        logging = f"-Dlog4j.configuration=file:{self.folder / 'log4j.properties'}"
        return [str(java()), "-Xmx300m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", logging, "-cp", self.classpath]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def _fetched(self) -> str:
        (self.folder / "pom.xml").write_text(POM.format(release=RELEASE))
        goal = ["dependency:build-classpath", "-DincludeScope=runtime", "-Dmdep.outputFile=classpath"]
        subprocess.run(["mvn", "-B", "-q", *goal], cwd=self.folder, check=True, capture_output=True)
        return (self.folder / "classpath").read_text().strip()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self.folder / "out.txt").open("ab") as out:
            self.process = subprocess.Popen([*self._java, "kafka.Kafka", self._settings], stdout=out, stderr=out)
        until = time.monotonic() + 180
        while True:
            try:
                self.admin().close()
                return
            except KafkaError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.5)

    def admin(self) -> KafkaAdminClient:
        return KafkaAdminClient(bootstrap_servers=self.address)

    def make_topics(self) -> None:
        admin = self.admin()
        admin.create_topics([NewTopic(name, 2, 1, topic_configs=more) for name, more in TOPICS.items()])
        admin.close()

    def kill(self) -> None:
        """End it at once, or what is left of it."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def stop(self) -> None:
        """End it as an operator does."""
        assert self.process is not None
        self.process.terminate()
        self.process.wait(60)

    def lose(self, chance: random.Random) -> int:
        """Cut the last bytes off the logs of data, as a machine that loses its power; returns how many logs."""
        lost = 0
        for folder in self.data.glob("*-[0-9]"):
            last = max(folder.glob("*.log"))
            size = last.stat().st_size
            if folder.name.partition("-")[0] in TOPICS and size > 2000:
                with last.open("r+b") as file:
                    file.truncate(size - chance.randrange(100, 2000))
                lost += 1
        return lost


def write(broker: Broker, chance: random.Random, seconds: float, name: str) -> int:
    """Run transactions for a while, of which some are aborted; returns how many ended."""
    producer = KafkaProducer(
        bootstrap_servers=broker.address, transactional_id=name, transaction_timeout_ms=10_000, linger_ms=0
    )
    producer.init_transactions()
    until, ended = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        producer.begin_transaction()
        for _ in range(chance.randrange(1, 12)):
            key = f"key-{chance.randrange(20)}".encode()
            value = chance.randbytes(chance.randrange(10, 400))
            producer.send(chance.choice(sorted(TOPICS)), value, key=key, partition=chance.randrange(2))
        producer.flush()
        if chance.random() < 0.3:
            producer.abort_transaction()
        else:
            producer.commit_transaction()
        ended += 1
        time.sleep(0.01)
    producer.close()
    return ended


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
