"""Real servers without an installation: PostgreSQL 18 and two Valkey 9 from Python wheels.

The servers are for the demo, the tests and the benchmarks. Production has separate servers: with
DATABASE_URL, REDIS_URL and CELERY_BROKER_URL set, this package starts no server.

    Stack ── location   folder of the data, account of the processes, paths of the programs
      ├── Postgres ─┐
      ├── Valkey    ├── Server   start, wait, stop, kill, restart; end of a killed run's processes
      └── Valkey   ─┘  or RabbitMQ, for tests

    with Stack("demo", root=checkout) as stack:
        run(environ=stack.urls())

The package does not use the wheel's Python layer, which as root makes every parent folder readable
for all users. `python -m notifyproj.devstack.servers test` starts a stack in the foreground and
prints the stack's URLs.
"""

from __future__ import annotations

from notifyproj.devstack.servers.errors import EmbeddedError
from notifyproj.devstack.servers.stack import Stack

__all__ = ["EmbeddedError", "Stack"]
