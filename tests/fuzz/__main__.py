"""Runs the truth fuzz by hand; see the docstring of the package."""

from tests.fuzz.run import main

raise SystemExit(main())
