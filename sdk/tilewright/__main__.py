"""`python -m tilewright` is the command line."""

from tilewright.cli import main

raise SystemExit(main())
