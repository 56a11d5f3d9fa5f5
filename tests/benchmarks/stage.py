"""What a benchmark runs on: servers, sink, the product's processes, one producer and its people.

The stage is set once a run. Between two measurements it is cleared, so that each finds the same
tables; processes that a measurement does not need stand still (SIGSTOP), so that a baseline has the
machine to itself.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, Self

import django
import psycopg
import redis

from celeryconfig import KEY_PREFIX
from notifications.core import clock
from notifications.core.rules.lane import LANES
from notifyproj.devstack.ports import LOOPBACK, free_port
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.servers import postgres as postgres_server
from notifyproj.devstack.supervisor.process import ROOT, Process
from notifyproj.devstack.supervisor.programs import PROGRAMS, Answers, Ports, Program
from notifyproj.setting_names import PREFIX
from tests.benchmarks.google import Google
from tests.benchmarks.sink import Sink

VAR: Final = ROOT / "var" / "bench"
WORKING: Final = ("web", "p0", "channels", "transactional", "ops", "beat")
"""The processes that deliver; the others of the table are for people."""
PEOPLE: Final = 2_000
TEMPLATE: Final = "bench_order"
TYPE: Final = "BENCH_ORDER"

_CLEARING_TRIES: Final = 5
_PARTITIONED: Final = ("notification", "delivery", "attempt", "event")

_POSTGRES: Final = {"shared_buffers": "512MB", "max_wal_size": "4GB", "io_method": "worker"}
"""A small server's settings: no checkpoint may fall into one of two runs that are compared."""
_SETTINGS: Final = {
    "DJANGO_SETTINGS_MODULE": "notifyproj.settings",
    "NOTIFY_SECRET_KEY": "a-key-for-benchmarks-that-signs-nothing-of-worth",
    "NOTIFY_ENCRYPTION_KEYS": "dGVzdHMtZW5jcnlwdC13aXRoLXRoaXMta2V5LW9ubHk=",
    "NOTIFY_SANDBOX_SECRET": "whsec_dGVzdHMtc2lnbi10aGVpci1yZWNlaXB0cy13aXRoLXRoaXM=",
    "NOTIFY_WEBHOOK_ALLOW_PRIVATE": "yes",
    "NOTIFY_WEBHOOK_SECRETS": "whsec_YmVuY2gtYmVuY2gtYmVuY2gtYmVuY2gtMzI=",
    "NOTIFY_FLOWER_PASSWORD": "a-password-for-nobody",
    "NOTIFY_SES_REGION": "eu-west-1",
    "NOTIFY_SES_FROM": "Shop <no-reply@shop.example>",
    "NOTIFY_SES_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "NOTIFY_SES_PER_SECOND": "1000",
    "NOTIFY_SES_SECRET_ACCESS_KEY": "benchmarks-sign-with-it-and-nobody-checks",
    "NOTIFY_SMTP_FROM": "Shop <no-reply@shop.example>",
    "NOTIFY_ROUTES": "push=fcm,sms=sandbox,email=sandbox,in_app=sandbox,webhook=sandbox,"
    "chat=sandbox",
    "NOTIFY_BULK_JOB_PER_HOUR": "0",  # audiences of tests leave at once
    # Counted like anybody's, but two thousand people get what else a city would.
    "NOTIFY_CAPS": "push=999999/hour,sms=999999/hour,email=999999/hour",
}


class Stage:
    """Servers and processes for a whole run; a context manager that stops them all."""

    def __init__(self) -> None:
        self.ports = Ports(
            web=free_port(f"{VAR}/web"),
            live=free_port(f"{VAR}/live"),
            flower=free_port(f"{VAR}/flower"),
            sandbox=free_port(f"{VAR}/sandbox"),
        )
        self.mail_port = free_port(f"{VAR}/slow_mail")
        """Where the SMTP adapter connects; a benchmark that needs a server starts one there."""
        self.ses_port = free_port(f"{VAR}/ses")
        """The same for the SES adapter."""
        self.sink = Sink(VAR / "sink")
        self.google = Google(VAR / "google")
        self._stack = Stack("bench", root=ROOT, environ={}, postgres_settings=_POSTGRES, fresh=True)
        self._processes: dict[str, Process] = {}
        self._still: set[str] = set()
        self._web_processes = 1
        self._exits = ExitStack()
        self.key = ""
        """The producer's API key."""
        self.wanted_size: int | None = None
        """From the command line: notifications of a benchmark that takes minutes."""

    def __enter__(self) -> Self:
        """Start the servers and fill in what every benchmark needs.

        Raises:
            EmbeddedError: a server does not start.
            NoSink: nginx does not.
        """
        with ExitStack() as undo:
            for sink in (self.sink, self.google.sink):
                sink.start()
                undo.callback(sink.stop)
            urls = undo.enter_context(self._stack).urls()
            self._stack.state.flush()
            self._stack.state.restart()  # else the last run's ledger would count as memory
            self._set_environment(urls)
            self.key = _seed()
            undo.callback(self._stop_processes)
            self._exits = undo.pop_all()
        return self

    def __exit__(self, *_error: object) -> None:
        self._exits.close()

    @property
    def broker_url(self) -> str:
        """URL of the broker of product and baseline."""
        return self._stack.broker.url

    @property
    def state_url(self) -> str:
        """The state instance."""
        return self._stack.state.url

    @property
    def postgres_log(self) -> Path:
        """The log of the Postgres server."""
        return self._stack.postgres.log

    def size(self, usual: int) -> int:
        """How many notifications the benchmark sends: as its caller wants, else the usual ones."""
        return self.wanted_size or usual

    def run(
        self, names: Iterable[str] = WORKING, *, copies: Mapping[str, int] | None = None
    ) -> None:
        """Have exactly these processes of the table running and ready.

        Args:
            names: programs of the table.
            copies: how many processes of a program run, by name; one of each other program.
        """
        counts = {**dict.fromkeys(names, 1), **(copies or {})}
        wanted = [
            each if not number else _copy(each, number + 1)
            for each in PROGRAMS
            for number in range(counts.get(each.name, 0))
        ]
        for name in self._processes.keys() - {each.name for each in wanted}:
            self._processes.pop(name).stop()
        missing = [each for each in wanted if each.name not in self._processes]
        fresh = [self._with_processes(each) for each in missing]
        for entry in fresh:
            process = Process(entry, ports=self.ports, environ=os.environ, var=VAR)
            self._processes[entry.name] = process
            process.log.unlink(missing_ok=True)
            process.start()
        for entry in fresh:
            self._processes[entry.name].wait_ready()
        if fresh and {"web", "beat", "ops"} <= self._processes.keys():
            self._processes["web"].wait_ready(sign=Answers("web", "/readyz"))

    @contextmanager
    def web_with(self, *, processes: int) -> Iterator[None]:
        """Have web run with so many processes for requests."""
        names = set(self._processes)
        self._serve(names, processes)
        yield
        self._serve(names, 1)

    @contextmanager
    def web_alone(self, *, processes: int) -> Iterator[None]:
        """Have web run with so many processes for requests; the others stand still."""
        others = set(self._processes) - {"web"}
        with self.web_with(processes=processes), self.standing_still(*others):
            yield

    def _serve(self, names: AbstractSet[str], processes: int) -> None:
        """Start web again with so many processes."""
        self._web_processes = processes
        self.run(names - {"web"})
        self.run(names)

    def _with_processes(self, entry: Program) -> Program:
        if entry.name != "web" or self._web_processes == 1:
            return entry
        return replace(entry, arguments=(*entry.arguments, f"--workers={self._web_processes}"))

    @contextmanager
    def settings(self, **environ: str) -> Iterator[None]:
        """Give processes that start during the block further settings."""
        os.environ.update(environ)
        try:
            yield
        finally:
            for name in environ:
                del os.environ[name]

    @contextmanager
    def standing_still(self, *names: str) -> Iterator[None]:
        """Keep these processes (all, when none is named) from running during the block.

        Blocks may be nested: what an outer one stopped stays so.
        """
        stopping = set(names or self._processes) - self._still
        for name in stopping:
            self._processes[name].signal(signal.SIGSTOP)
        self._still |= stopping
        try:
            yield
        finally:
            self._still -= stopping
            for name in stopping:
                self._processes[name].signal(signal.SIGCONT)

    def components(self) -> dict[str, int]:
        """What can burn CPU, by name: the root pid of each."""
        servers = {
            "postgres": self._stack.postgres.pid,
            "valkey broker": self._stack.broker.pid,
            "valkey state": self._stack.state.pid,
            "sink": self.sink.pid,
            "google": self.google.sink.pid,
        }
        ours = {name: process.pid for name, process in self._processes.items()}
        return {name: pid for name, pid in {**ours, **servers}.items() if pid is not None}

    def database(self) -> psycopg.Connection[tuple[int, ...]]:
        """A connection of the caller's own, in autocommit; a context manager."""
        return psycopg.connect(self._stack.postgres.url, autocommit=True)

    @contextmanager
    def postgres_of_the_demo(self) -> Iterator[None]:
        """Run PostgreSQL with the settings of `make demo` during the block."""
        postgres = self._stack.postgres
        usual, postgres.settings = postgres.settings, postgres_server.SETTINGS
        postgres.restart()
        try:
            yield
        finally:
            postgres.settings = usual
            postgres.restart()

    def clear(self) -> None:
        """Empty what grows with each notification: today's partitions, the keys, the lanes."""
        today = clock.now().date()
        partitions = [f"{table}_{today:%Y%m%d}" for table in _PARTITIONED]
        with self.database() as link:
            for tries_left in reversed(range(_CLEARING_TRIES)):
                try:
                    link.execute(f"TRUNCATE {', '.join(partitions)}, idempotency_key")
                    break
                except psycopg.errors.DeadlockDetected:
                    # What still runs has locked the tables in another order.
                    if not tries_left:
                        raise
        with redis.Redis.from_url(self.broker_url) as broker:
            broker.delete(*(f"{KEY_PREFIX}{lane.name}" for lane in LANES))

    def _set_environment(self, urls: Mapping[str, str]) -> None:
        for name in [name for name in os.environ if name.startswith(PREFIX)]:
            del os.environ[name]  # the caller's own settings are for another stack
        public_url = f"http://{LOOPBACK}:{self.ports.web}"
        os.environ.update(
            _SETTINGS,
            **urls,
            **self.google.environ(),
            NOTIFY_PUBLIC_URL=public_url,
            NOTIFY_SANDBOX_URL=self.sink.url,
            NOTIFY_SES_ENDPOINT=f"http://{LOOPBACK}:{self.ses_port}",
            NOTIFY_SMTP_URL=f"smtp://{LOOPBACK}:{self.mail_port}",
        )

    def _stop_processes(self) -> None:
        for process in self._processes.values():
            process.ask_to_stop()
        for process in self._processes.values():
            process.stop()


def _copy(entry: Program, number: int) -> Program:
    """Return a further process of a program, with a name of its own, as a node of Celery too."""
    name = f"{entry.name}-copy-{number}"
    own = tuple(
        part.replace(f"--hostname={entry.name}@", f"--hostname={name}@") for part in entry.arguments
    )
    return replace(entry, name=name, arguments=own)


def _seed() -> str:
    """Migrate, and make the producer, its people and its template; returns the API key."""
    django.setup()
    from tests.benchmarks import seed  # noqa: PLC0415 - its models need Django set up

    return seed.seed(people=PEOPLE, template=TEMPLATE, type_=TYPE)
