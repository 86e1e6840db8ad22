"""What may lie in the repository: small files, no machine's paths, no registry's hosts."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.evidence import ROOT

FILE_BYTES = 1_000_000
TREE_BYTES = 30_000_000
"""What a clone costs who only wants the program: recordings are most of it, and are packed where many lie together."""
LEFT_OUT = {".git", ".venv", "__pycache__", "build", "dist", ".hypothesis"}
"""What a checkout may hold and a commit doesn't (.gitignore), beside the `*_cache` folders; .git may be a file."""

MACHINE_PATH = re.compile(rb"(?<![\w.*~$}/-])/(?:home|Users|root|work(?:space)?|builds|private|mnt)/[\w.-]+")
REGISTRY_HOST = re.compile(
    rb"\b(?:index-url|extra-index-url|find-links|trusted-host)\b\s*[=:]"
    rb"|(?<![\w.-])(?:files|registry|proxy|repo\d?|packages|mirrors?)\.[a-z0-9-]+\.(?:[a-z]+\.)?(?:org|com|net|io)\b"
    rb"|\.(?:org|com|net|io)/simple\b|artifactory|\bnexus\b|\b[a-z]+cr\.io\b"
)
"""By the shape that such hosts have, so that none is named here either."""


def tree() -> Iterator[Path]:
    """Yield every file that could be committed."""
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in LEFT_OUT and not name.endswith("_cache")]
        yield from (
            Path(folder, name) for name in files if name not in LEFT_OUT and not name.endswith((".nbi", ".nbc"))
        )


def findings(pattern: re.Pattern[bytes]) -> list[str]:
    own = Path(__file__)
    return [
        f"{path.relative_to(ROOT)}: {match.group().decode(errors='replace')}"
        for path in tree()
        if path != own
        for match in pattern.finditer(path.read_bytes())
    ]


def test_no_file_is_over_a_megabyte():
    assert not [str(path) for path in tree() if path.stat().st_size > FILE_BYTES]


def test_the_tree_stays_under_thirty_megabytes():
    assert sum(path.stat().st_size for path in tree()) < TREE_BYTES


def test_no_file_names_a_path_of_somebodys_machine():
    assert not findings(MACHINE_PATH)


def test_no_file_names_a_package_registry():
    assert not findings(REGISTRY_HOST)


@pytest.mark.parametrize("line", [b"in /home/x/kafka", b'"/Users/x/y"', b"log.dirs=/builds/data", b"(/mnt/x)"])
def test_a_machine_path_is_seen(line):
    assert MACHINE_PATH.search(line)


@pytest.mark.parametrize("line", [b"/var/lib/kafka/data", b"docs/home/page.md", b"a/mnt/b", b"https://x.org/home/a"])
def test_an_ordinary_path_is_not_taken_for_a_machine_path(line):
    assert not MACHINE_PATH.search(line)


@pytest.mark.parametrize(
    "line",
    [
        b"registry.example.org",
        b"https://repo1.example.apache.org/x",
        b"example.org/simple",
        b"--index-url = x",
        b"abcr.io",
    ],
)
def test_a_registry_is_seen(line):
    assert REGISTRY_HOST.search(line)
