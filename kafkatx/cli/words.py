"""Every sentence of the product with sample facts, for who edits the voice: `python -m kafkatx.cli.words [WORD]`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

import kafkatx.rules
import kafkatx.words
from kafkatx.cli.streams import discard_output
from kafkatx.words.catalogue import all_sentences


def speaking_modules() -> Iterator[ModuleType]:
    """Yield the modules that hold sentences: phrases that rules share, then the rules."""
    for package in (kafkatx.words, kafkatx.rules):
        for found in walk_packages(package.__path__, f"{package.__name__}."):
            yield import_module(found.name)


def main(word: str = "") -> None:
    """Print every sentence in which a word occurs, under the module that it stands in."""
    module = ""
    for sentence in all_sentences(speaking_modules()):
        if word not in sentence.reads and word not in sentence.module:
            continue
        if sentence.module != module:
            module = sentence.module
            print(f"\n{module}")
        print(f"  {sentence.part}: {sentence.reads}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:2])
    except BrokenPipeError:
        discard_output()
