"""How tests are dealt out where pytest runs them in several processes (`-n 2`): a file to a process, Spark's to one.

Fixtures of a module are made once that way, one Spark is started, and what is told of a text is worked out once.
Spark's tests take longest, so they come first.
"""

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.ordering import OF_ALL_TEXTS, PORTIONED, WITH_SPARK


class Shares(LoadScopeScheduling):
    """Deals out files in the order of the collection; of the truth fuzz each of its portions by itself."""

    def __init__(self, config: pytest.Config, log: object) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(WITH_SPARK):
            return "Spark"
        if nodeid.startswith(OF_ALL_TEXTS):
            return "texts"
        return nodeid if nodeid.startswith(PORTIONED) else nodeid.partition("::")[0]
