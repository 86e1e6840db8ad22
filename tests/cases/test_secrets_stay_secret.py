"""No secret that stands in a line of a log or a page reaches text, JSON, tables, a bundle or an error."""

import re
import tarfile

import pyarrow.parquet as pq
import pytest

from kafkatx.terms.secrets import without_secrets
from tests.cases.secret_lines import lines, secret_of
from tests.house.tools import printed_by_kafkatx

ALL = [*lines()]
SECRET = re.compile(r"Zq7\d{4}xW9kV")


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    for head in range(4):
        (folder / f"client-{head}.log").write_text("\n".join(ALL[head::4]) + "\n")
    (folder / "page.md").write_text("We see this in production:\n\n```\n" + "\n".join(ALL[:40]) + "\n```\n")
    return folder


def shown(text: str) -> list[str]:
    return sorted({ALL[int(found[3:7])] for found in SECRET.findall(text)})


def test_there_are_two_hundred_lines_with_a_secret_each():
    assert len(ALL) >= 200
    assert all(secret_of(number) in line for number, line in enumerate(ALL))


@pytest.mark.parametrize("command", [["diagnose", "-v"], ["diagnose", "--json"], ["history"], ["history", "--json"]])
def test_no_command_prints_one(logs, command):
    assert shown(printed_by_kafkatx(*command, str(logs))) == []


@pytest.mark.parametrize("redact", [[], ["--redact"]], ids=["plain", "redacted"])
def test_no_bundle_holds_one(logs, tmp_path, redact):
    bundle = tmp_path / "bundle.tgz"
    printed = printed_by_kafkatx("collect", str(logs), "--out", str(bundle), *redact)
    with tarfile.open(bundle) as packed:
        files = [packed.extractfile(member) for member in packed.getmembers() if member.isfile()]
        texts = [file.read().decode() for file in files if file is not None]
    assert shown("".join([printed, *texts])) == []


@pytest.mark.parametrize(
    "text",
    [
        "session.timeout.ms = 45000",
        "token: null",
        "Got password = [hidden]",
        "delegation.token.expiry.time.ms = 86400000",
        "basic authentication failed",
        "key: transaction_metadata::transactionalId=pay-1",
        "keySize: 10 valueSize: 37",
        "sessionId=0x100 negotiated timeout=6000",
        "Incremental fetch session: sessionId=12, epoch=7",
        "https://host:8080/a",
        "sasl.oauthbearer.token.endpoint.url=https://idp.example/token",
        "ssl.key.password = null",
        "the password is wrong",
    ],
)
def test_what_only_speaks_of_a_secret_stays(text):
    assert without_secrets(text) == text


def test_no_table_holds_one(logs, tmp_path):
    printed_by_kafkatx("export", str(logs), "--out", str(tmp_path / "tables"))
    texts = [str(pq.read_table(path).to_pylist()) for path in (tmp_path / "tables").rglob("*.parquet")]
    assert len(texts) > 10
    assert shown("".join(texts)) == []
