"""docs/library.md: every example runs and prints what stands below it; every public name is explained there."""

import contextlib
import io
import re
import subprocess
import sys

import pytest

import kafkatx
from tests.evidence import ROOT

PAGE = ROOT / "docs/library.md"
EXAMPLE = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n^```text\n(?P<printed>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)


def examples() -> list[re.Match[str]]:
    return list(EXAMPLE.finditer(PAGE.read_text()))


def test_every_example_prints_what_stands_below_it(monkeypatch, request):
    monkeypatch.chdir(ROOT)
    text, names = PAGE.read_text(), {"__name__": "example"}
    for example in examples():
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(example["code"], str(PAGE), "exec"), names)
        if request.config.getoption("--update-golden"):
            text = text.replace(example[0], example[0].replace(example["printed"], printed.getvalue()))
            PAGE.write_text(text)
        else:
            assert printed.getvalue() == example["printed"]


def test_there_are_examples_and_each_prints():
    assert len(examples()) >= 5
    assert all(example["printed"] for example in examples())
    assert PAGE.read_text().count("```python") == len(examples())


@pytest.mark.parametrize("name", sorted(set(kafkatx.__all__) - {"__version__", "Evidence"}))
def test_every_name_of_the_library_is_on_the_page_and_can_be_had(name):
    assert f"kafkatx.{name}" in PAGE.read_text()
    assert getattr(kafkatx, name).__name__ == name


def test_a_name_that_the_library_has_not_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'spill'"):
        _ = kafkatx.spill
    assert dir(kafkatx) == kafkatx.__all__


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, kafkatx; print([name for name in ('numpy', 'pyarrow', 'numba', 'rich') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
