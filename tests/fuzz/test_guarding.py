"""The guard itself: who reads one byte too far is ended, and kernels give the same over guarded buffers."""

import subprocess
import sys

import numpy as np
import pytest

from tests.evidence import ROOT
from tests.fuzz.guarding import ASKED_BY, guarded
from tests.fuzz.run import drawn, outcomes

TOO_FAR = """
import numba, numpy as np
from tests.fuzz.guarding import guarded
held = guarded(b"x" * {size})
numba.njit(lambda data, at: data[at])(held, {at})
"""


def ended(size: int, at: int) -> int:
    return subprocess.run([sys.executable, "-c", TOO_FAR.format(size=size, at=at)], cwd=ROOT, check=False).returncode


def test_a_byte_too_far_ends_the_process() -> None:
    assert ended(100, 99) == 0
    assert ended(100, 100) == -11


@pytest.mark.parametrize("size", [0, 1, 4_095, 4_096, 4_097])
def test_a_guarded_copy_holds_what_it_was_made_of(size: int) -> None:
    data = np.random.default_rng(size).integers(0, 256, size).astype(np.uint8)
    assert guarded(data.tobytes()).tolist() == data.tolist()


def test_damaged_files_lead_no_compiled_kernel_out_of_its_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ASKED_BY, "yes")
    monkeypatch.setenv("KAFKATX_FUZZ_SECONDS", "120")
    assert [(number, faults) for number, _, faults, _ in outcomes(drawn("files", range(1_000, 1_040))) if faults] == []
