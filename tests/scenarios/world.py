"""The whole product as real processes, for scenarios.

A scenario sends requests over HTTP, reads messages from the sandbox, and kills, stops and restarts
processes. Rows are read and locked through a separate connection. `expire_waits` moves the end of a
lease or a wait into the past, so a scenario need not wait.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import psycopg
import redis
from celery import Celery
from psycopg.errors import DeadlockDetected
from psycopg.rows import dict_row

from celeryconfig import KEY_PREFIX
from notifications.core.rules.ids import notification_of
from notifications.core.rules.states import OPEN, Status
from notifyproj.devstack.child_process import preload_variables
from notifyproj.devstack.demo.environment import Sandbox, Service, TooLate, now, until
from notifyproj.devstack.ports import LOOPBACK, free_port
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.servers.rabbitmq import RabbitMQ
from notifyproj.devstack.supervisor.process import ROOT, Process
from notifyproj.devstack.supervisor.programs import Ports, program
from tests import roles
from tests.scenarios.settings import SETTINGS

WORKERS: Final = ("p0", "channels", "ops")
_PATIENCE: Final = timedelta(minutes=2)
_DEADLOCKS: Final = 5
"""Repeats of a statement."""
_PROGRAMS: Final = ("sandbox", "web", *WORKERS, "beat")


class World:
    """A running product. Use `until` to wait; of the methods `settled` and `in_status` wait."""

    def __init__(self, stack: Stack, *, var: Path) -> None:
        self.stack, self.var = stack, var
        self.database_url = stack.postgres.url  # for the rows that a scenario reads
        self.ports = Ports(**{
            name: free_port(f"{var}/{name}") for name in ("web", "live", "flower", "sandbox")
        })
        self.url = f"http://{LOOPBACK}:{self.ports.web}"
        self.sandbox = Sandbox(f"http://{LOOPBACK}:{self.ports.sandbox}")
        self.environ = {
            **preload_variables(),
            **SETTINGS,
            **stack.urls(),
            **roles.settings(stack.postgres.url, "app"),
            "NOTIFY_PUBLIC_URL": self.url,
            "NOTIFY_SANDBOX_URL": self.sandbox.url,
            "DEMO_VAR": str(var),
        }
        self.processes = {name: self.process(name) for name in _PROGRAMS}
        self._extra: list[Process] = []
        self._people = 0
        self._run = uuid4().hex[:8]  # the database remembers earlier runs

    def process(self, name: str, **environ: str) -> Process:
        """Return a process of the table, not started, with further environment variables."""
        return Process(
            program(name), ports=self.ports, environ={**self.environ, **environ}, var=self.var
        )

    def start_extra(
        self, *names: str, ports: Ports | None = None, environ: Mapping[str, str] | None = None
    ) -> list[Process]:
        """Start further processes of programs; `repair` ends the processes after the test.

        A name twice starts two processes. `environ` has further environment variables.
        """
        settings = {**self.environ, **(environ or {})}
        more = [
            Process(
                program(name),
                ports=ports or self.ports,
                environ=settings,
                var=self.var / f"extra_{number}",
            )
            for number, name in enumerate(names, start=len(self._extra))
        ]
        self._extra += more
        _start(more)
        return more

    def set_up(self, *names: str, **environ: str) -> None:
        """Create tables, producers and people, and start all processes as `repair` does.

        As in production, `migrate` signs in as the owner of the tables, and every process as a role
        without tables. The database of an earlier run, which may be of another version, goes.
        """
        self.stack.postgres.empty()
        roles.make(self.stack.postgres.url)
        self.manage("migrate", **roles.settings(self.stack.postgres.url, "owner"))
        self.manage("load_demo")
        self.repair(*names, **environ)

    def manage(self, *command: str, **environ: str) -> None:
        subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env={**self.environ, **environ},
            check=True,
            capture_output=True,
        )

    def repair(self, *names: str, without: Collection[str] = (), **environ: str) -> None:
        """Start killed processes, end extra processes, and delete the sandbox's messages.

        The named processes get further environment variables; one with others is restarted. The
        processes `without` stay as they are: the test starts them.
        """
        while self._extra:
            self._extra.pop().kill()
        repaired = [name for name in _PROGRAMS if name not in without]
        for name in repaired:
            wanted = self.process(name, **(environ if name in names else {}))
            if self.processes[name].environ != wanted.environ:
                self.processes[name].kill()
                self.processes[name] = wanted
        self.start(*repaired)
        self._close_breakers()
        self.sandbox.ask("DELETE", "/messages")
        self.sandbox.steer("")

    def _close_breakers(self) -> None:
        with redis.Redis.from_url(self.stack.state.url) as client:
            for key in client.keys("breaker:*"):
                client.delete(key)

    def start(self, *names: str) -> None:
        """Start the stopped processes among these names, and wait until each is ready."""
        _start([self.processes[name] for name in names if self.processes[name].pid is None])

    def kill_and_restart(self, *processes: Process) -> None:
        """Kill and start processes at the same time, and wait until each is ready."""
        for process in processes:
            process.kill()
        _start(processes)

    def restart(self, *names: str, **environ: str) -> None:
        """Restart processes with environment variables."""
        for name in names:
            self.processes[name].kill()
            self.processes[name] = self.process(name, **environ)
        self.start(*names)

    def stop(self) -> None:
        """Kill every process, the extra processes too."""
        for process in (*self._extra, *self.processes.values()):
            process.kill()

    # --- As a producer

    def service(self, name: str) -> Service:
        """Return the client of a producer with the producer's key."""
        keys = json.loads((self.var / "demo_keys.json").read_text())
        return Service(self.url, {"Authorization": f"Bearer {keys[name]}"})

    def person(self, *, timezone: str = "UTC", **contacts: str) -> str:
        """Create a recipient with an address on each given channel; return the user id.

        The timezone is known, so that no P3 waits for the morning of the producer.
        """
        self._people += 1
        user_id = f"somebody_{self._run}_{self._people}"
        addresses = [{"channel": name, "address": each} for name, each in contacts.items()]
        self.service("operator").person(user_id, contacts=addresses, timezone=timezone)
        return user_id

    def wish(self, user_id: str, **wishes: object) -> None:
        """Change the preferences of a recipient."""
        path = f"/v1/recipients/{user_id}/preferences"
        self.service("operator").ask("PATCH", path, wishes)

    def otp(self, user_id: str, **fields: object) -> dict[str, object]:
        """Return the request of an OTP by e-mail, where every address can steer the sandbox."""
        return {
            "user_id": user_id,
            "type": "OTP",
            "template_id": "otp_v2",
            "variables": {"code": "108108"},
            "channels": ["email"],
            **fields,
        }

    def mail(self, user_id: str, **fields: object) -> dict[str, object]:
        """Return the request of an order mail; the priority is P2 by default."""
        return {
            "user_id": user_id,
            "type": "ORDER_SHIPPED",
            "template_id": "order_shipped",
            "variables": {"order_id": "ORD-1"},
            "channels": ["email"],
            **fields,
        }

    def send_otp(self, user_id: str) -> UUID:
        """Send an OTP; return the id of the notification."""
        return UUID(self.service("auth-service").notify(self.otp(user_id)).body["notification_id"])

    def send_mails(self, count: int, *, user_id: str, **fields: object) -> list[UUID]:
        """Send a batch of order mails to a recipient; return the ids of the notifications."""
        batch = [self.mail(user_id, **fields)] * count
        return [UUID(each) for each in self.service("order-service").notify_all(batch)]

    # --- As the person

    def got(self, notifications: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
        """Return the sandbox's messages of notifications with a single delivery."""
        wanted = set(notifications)
        found = {
            notification_of(UUID(message["delivery_id"])): message
            for message in self.sandbox.messages()
        }
        return {each: message for each, message in found.items() if each in wanted}

    def shown(self, notifications: Sequence[UUID]) -> list[int]:
        """Return the number of times that the sandbox showed each notification."""
        got = self.got(notifications)
        return [got[each]["shown"] if each in got else 0 for each in notifications]

    # --- In the database

    def rows(self, statement: str, *parameters: object) -> list[dict[str, Any]]:
        """Run a statement and commit.

        A deadlock with a process under test undoes the statement, and the statement is repeated.
        """
        for _ in range(_DEADLOCKS):
            with suppress(DeadlockDetected):
                return self._rows(statement, parameters)
        return self._rows(statement, parameters)

    def _rows(self, statement: str, parameters: Sequence[object]) -> list[dict[str, Any]]:
        with (
            psycopg.connect(self.database_url, row_factory=dict_row) as link,
            link.cursor() as running,
        ):
            running.execute(statement.encode(), parameters)
            return running.fetchall() if running.description else []

    def deliveries(self, notifications: Sequence[UUID]) -> list[dict[str, Any]]:
        """Return the rows of the deliveries of notifications."""
        return self.rows(
            "SELECT * FROM delivery WHERE notification_of(id) = ANY(%s) ORDER BY id",
            list(notifications),
        )

    def statuses(self, notifications: Sequence[UUID]) -> list[Status]:
        """Return the statuses, in the order of the delivery ids."""
        return [Status(row["status"]) for row in self.deliveries(notifications)]

    def reasons(self, notification: UUID) -> list[str]:
        """Return the reasons of a notification's timeline."""
        found = self.rows(
            "SELECT reason FROM event WHERE notification_id = %s ORDER BY seq", notification
        )
        return [row["reason"] for row in found]

    def answer_at_once(self) -> None:
        """Make the provider answer each mail at once, also at slow addresses."""
        self.sandbox.steer("slow-1ms", "email")

    def until_more_than(self, count: int, notifications: Sequence[UUID]) -> None:
        """Wait until the sandbox has more than `count` of the notifications."""
        until(lambda: len(self.got(notifications)) > count, what=f"more than {count} have come")

    def settled(
        self, notifications: Sequence[UUID], *, within: timedelta = _PATIENCE
    ) -> list[Status]:
        """Wait until no delivery of the notifications is open; return the statuses."""

        def look() -> list[Status] | None:
            found = self.statuses(notifications)
            return found if found and not OPEN.intersection(found) else None

        return until(look, what=f"{len(notifications)} notifications are settled", within=within)

    def in_status(
        self, status: Status, notifications: Sequence[UUID], *, within: timedelta = _PATIENCE
    ) -> None:
        """Wait until all deliveries of the notifications have a status."""
        try:
            until(
                lambda: set(self.statuses(notifications)) == {status},
                what=f"all are {status.label}",
                within=within,
            )
        except TooLate as late:
            late.add_note(
                f"they are {Counter(each.label for each in self.statuses(notifications))}"
            )
            raise

    def expire_waits(self, notifications: Sequence[UUID]) -> None:
        """End the leases, retries and waits of notifications now."""
        self.rows(
            "UPDATE delivery SET due_at = now() - interval '6 seconds'"
            " WHERE notification_of(id) = ANY(%s) AND due_at > now()",
            list(notifications),
        )

    def forget_the_killed(self, notifications: Sequence[UUID]) -> None:
        """Make claimed and published deliveries due now; other waits go on."""
        self.rows(
            "UPDATE delivery SET due_at = now() WHERE notification_of(id) = ANY(%s)"
            " AND status = ANY(%s) AND due_at > now()",
            list(notifications),
            [Status.QUEUED, Status.SENDING],
        )

    @contextmanager
    def locked(self, table: str) -> Iterator[None]:
        """Lock a table; other sessions wait for the lock, two seconds at most."""
        with psycopg.connect(self.database_url) as link:
            link.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE".encode())
            yield

    # --- In the two Valkeys

    def ledger_has(self, delivery_id: UUID) -> bool:
        """Return True if the sent-ledger has an entry of the delivery."""
        with redis.Redis.from_url(self.stack.state.url) as client:
            return bool(client.keys(f"sent:{delivery_id.hex}:*"))

    def broker(self) -> redis.Redis:
        """A client of the broker, a Valkey."""
        return redis.Redis.from_url(self.stack.valkey_broker.url)

    def waiting(self, queue: str) -> int:
        """Return the number of messages that wait in a queue of the broker."""
        broker = self.stack.broker
        if isinstance(broker, RabbitMQ):
            return broker.waiting(queue)
        with self.broker() as client:
            return int(client.llen(f"{KEY_PREFIX}{queue}"))

    def discard(self, queue: str) -> None:
        """Delete the messages that wait in a queue of the broker."""
        broker = self.stack.broker
        if isinstance(broker, RabbitMQ):
            broker.discard(queue)
            return
        with self.broker() as client:
            assert client.delete(f"{KEY_PREFIX}{queue}") == 1

    @contextmanager
    def full_broker(self) -> Iterator[None]:
        """Fill the memory of the broker, so that the broker takes no message."""
        broker = self.stack.broker
        if isinstance(broker, RabbitMQ):
            with broker.full():
                yield
            return
        with self.broker() as client:
            client.config_set("maxmemory", "1")
            try:
                yield
            finally:
                client.config_set("maxmemory", "0")

    def publish(self, lane: str, delivery_ids: Sequence[UUID]) -> None:
        """Publish a further message with these ids on a lane."""
        app = Celery("scenarios")
        app.config_from_object("celeryconfig")
        # Celery believes CELERY_BROKER_URL, the other tests' broker, before its setting.
        with app.connection_for_write(self.stack.broker.url) as connection:
            app.send_task(
                f"deliver_{lane.rpartition('.')[2]}",
                args=[[each.hex for each in delivery_ids]],
                queue=lane,
                connection=connection,
            )


def seconds_since(moment: datetime) -> float:
    """Return the seconds since a time."""
    return (now() - moment).total_seconds()


def _start(processes: Sequence[Process]) -> None:
    """Start processes at the same time, and wait until each is ready."""
    for process in processes:
        process.start()
    for process in processes:
        process.wait_ready()
