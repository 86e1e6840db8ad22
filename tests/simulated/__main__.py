"""`python -m tests.simulated`."""

from tests.simulated.run import main

raise SystemExit(main())
