"""What every test relies on: `--update-golden`, kernels in both forms, a repeatable seed, an odd time zone."""

import os
import random
import sys
import time
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.golden import Golden
from tests.ordering import longest_first

ODD_ZONE = "HOUSE-05:45"
"""Far from UTC and in need of no time zone database: local time must not show in any result."""

HOUSE_ENVIRONMENT = {"TZ": ODD_ZONE, "COLUMNS": "80", "TERM": "dumb", "SOURCE_DATE_EPOCH": "1795300000"}
VARIABLES_THAT_COLOUR = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PY_COLORS", "GITHUB_ACTIONS")

settings.register_profile("house", deadline=None, print_blob=True)
settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite golden files, generated pages and examples in documents instead of comparing them",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Pin what may differ between machines, and give hypothesis a seed that the report can name."""
    for name in VARIABLES_THAT_COLOUR:
        os.environ.pop(name, None)
    os.environ.update(HOUSE_ENVIRONMENT)
    time.tzset()
    keep_bytecode()
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))


def keep_bytecode() -> None:
    """Let processes that tests start find compiled modules: where nothing may be kept each compiles all of kafkatx."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = longest_first(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Deal the tests out over processes: a file to a process, Spark's to one."""
    from tests.shares import Shares

    return Shares(config, log)


def pytest_report_header(config: pytest.Config) -> str:
    return f"hypothesis: repeat with --hypothesis-seed={config.option.hypothesis_seed}"


@pytest.fixture(params=["interpreted", "compiled"])
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a test once with kernels as plain Python and once compiled by numba."""
    from kafkatx.kernels import engine

    with engine.forced(request.param):
        yield request.param


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare texts with the files in `golden/` beside the test: `golden("diagnose-k39-fenced.txt", text)`."""
    return Golden(request.path.parent / "golden", update=request.config.getoption("--update-golden"))
