"""Real servers without an installation: PostgreSQL 18 and two Valkey 9 out of Python wheels.

They serve the demo, the tests and the benchmarks; production brings its own (set DATABASE_URL,
REDIS_URL and CELERY_BROKER_URL, and nothing here is started).

    Stack ── place      where the data lies, whose processes they are, where the programs come from
      ├── Postgres ─┐
      ├── Valkey    ├── Server   start, wait, stop, kill, restart; clears what a killed run left
      └── Valkey   ─┘

    with Stack("demo", root=checkout) as stack:
        run(environ=stack.urls())

The wheel's own Python layer is not used: run as root it opens every parent folder to the world. By
hand: `python -m notifyproj.devstack.servers test` starts one in the foreground and prints its URLs.
"""

from __future__ import annotations

from notifyproj.devstack.servers.errors import EmbeddedError
from notifyproj.devstack.servers.stack import Stack

__all__ = ["EmbeddedError", "Stack"]
