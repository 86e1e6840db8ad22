import pytest

from kafkatx.spark.masters import parse_master
from kafkatx.terms.errors import UsageError


@pytest.mark.parametrize(
    ("url", "cores"),
    [
        ("local", 1),
        ("local[4]", 4),
        ("local[4,2]", 4),
        ("local-cluster[2,3,1024]", 6),
        ("spark://a.example:7077", None),
        ("spark://a.example:7077,b.example:7077", None),
        ("yarn", None),
        ("k8s://https://a.example:6443", None),
        ("sc://a.example", None),
        ("sc://[::1]:15002", None),
        ("sc://a.example:15002/;token=x", None),
    ],
)
def test_a_master_and_the_cores_it_takes_of_this_machine(url, cores):
    assert parse_master(url).local_cores == cores


def test_all_cores_are_those_of_this_machine(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 12)
    assert parse_master("local[*]").local_cores == 12


@pytest.mark.parametrize(
    ("url", "cluster", "remote"),
    [
        ("local[2]", False, False),
        ("local-cluster[2,1,1024]", True, False),
        ("yarn", True, False),
        ("sc://a.example", True, True),
    ],
)
def test_whose_python_the_workers_run(url, cluster, remote):
    master = parse_master(url)
    assert (master.is_cluster, master.is_remote) == (cluster, remote)


@pytest.mark.parametrize(
    "url",
    ["", "bogus://x", "local[0]", "local[-1]", "local[]", "local[2", "local[2] ", "local[2]\n", "local-cluster[2,1]",
     "spark://a", "spark://", "k8s://", "sc://", "sc://a:b", "sc://a:99999", "Yarn"],
)  # fmt: skip
def test_what_is_no_master_is_one_line_with_the_way_out(url):
    with pytest.raises(UsageError) as raised:
        parse_master(url)
    assert str(raised.value) == (
        f"--master {url}: write it as local[N], local[*], spark://HOST:PORT, yarn, k8s://HOST:PORT or sc://HOST:PORT"
    )
