"""What `--master` may be, told before a JVM starts: Spark itself answers a wrong one with a page of Java."""

from __future__ import annotations

import os

from kafkatx.terms.errors import UsageError
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex

LOCAL = regex(r"local(?:\[(\*|[1-9]\d*)(?:,[1-9]\d*)?\])?")
LOCAL_CLUSTER = regex(r"local-cluster\[([1-9]\d*),([1-9]\d*),[1-9]\d*\]")
CLUSTER = regex(r"yarn|k8s://\S+|spark://[^\s/:,]+:\d+(?:,[^\s/:,]+:\d+)*")
REMOTE = regex(r"sc://(?:\[[\da-fA-F:]+\]|[^\s/:]+)(?::\d{1,4}|:[1-5]\d{4})?(?:/\S*)?")


@dataclass(frozen=True, slots=True)
class Master:
    """Where Spark runs: its URL, and the cores of this machine that it takes (None: elsewhere)."""

    url: str
    local_cores: int | None = None

    @property
    def is_remote(self) -> bool:
        """Whether a Spark Connect server is meant: the JVM is its own, here is a client."""
        return self.url.startswith("sc://")

    @property
    def is_cluster(self) -> bool:
        """Whether Python workers run in an environment that is not this one's."""
        return self.local_cores is None or self.url.startswith("local-cluster")


def parse_master(url: str) -> Master:
    """Return what a master URL means; raises UsageError for what is none."""
    if found := LOCAL.fullmatch(url):
        return Master(url, _cores(found[1]))
    if found := LOCAL_CLUSTER.fullmatch(url):
        return Master(url, int(found[1]) * int(found[2]))
    if CLUSTER.fullmatch(url) or REMOTE.fullmatch(url):
        return Master(url)
    raise UsageError(
        f"--master {url}: write it as local[N], local[*], spark://HOST:PORT, yarn, k8s://HOST:PORT or sc://HOST:PORT"
    )


def _cores(text: str | None) -> int:
    if text == "*":
        return os.cpu_count() or 1
    return int(text or 1)
