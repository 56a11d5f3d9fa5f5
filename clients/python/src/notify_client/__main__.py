"""`python -m notify_client`: the command `notify`."""

import sys

from notify_client.cli import main

sys.exit(main())
