"""The whole product as real processes, and a test's hands on it.

Producers speak HTTP to it, people look at the sandbox, and a test may kill, stop, wipe and restart
what it likes. The database is looked at and locked through a connection of its own. A lease or a
wait need not be sat out: `let_pass` moves its end into the past, which is all that time does to it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import psycopg
import redis
from celery import Celery
from psycopg.rows import dict_row

from notifications.rules.ids import notification_of
from notifications.rules.states import OPEN, Status
from notifyproj.devstack.child_process import preload_variables
from notifyproj.devstack.demo.environment import Sandbox, Service, TooLate, now, until
from notifyproj.devstack.ports import LOOPBACK, free_port
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.supervisor.process import ROOT, Process
from notifyproj.devstack.supervisor.programs import Ports, program
from tests import roles

WORKERS: Final = ("p0", "channels", "ops")
_PATIENCE: Final = timedelta(seconds=60)
_PROGRAMS: Final = ("sandbox", "web", *WORKERS, "beat")
_SECRETS: Final = {
    "NOTIFY_SECRET_KEY": "a-key-for-scenarios-that-signs-nothing-of-worth",
    "NOTIFY_ENCRYPTION_KEYS": "dGVzdHMtZW5jcnlwdC13aXRoLXRoaXMta2V5LW9ubHk=",
    "NOTIFY_SANDBOX_SECRET": "whsec_dGVzdHMtc2lnbi10aGVpci1yZWNlaXB0cy13aXRoLXRoaXM=",
    "NOTIFY_ROUTES": "push=sandbox,sms=sandbox,email=sandbox,in_app=sandbox,webhook=sandbox,"
    "chat=sandbox",
    "NOTIFY_ALLOWED_HOSTS": LOOPBACK,
    "NOTIFY_CAPS": "none",  # one person stands for many
    "DEMO_ADMIN_PASSWORD": "opens-nothing",
    "PYTHONUNBUFFERED": "1",
    "PATH": "/usr/bin:/bin",
}


class World:
    """A running product. Use `until` to wait; nothing here waits by itself but `settled`."""

    def __init__(self, stack: Stack, *, var: Path) -> None:
        self.stack = stack
        self.var = var
        self.ports = Ports(**{
            name: free_port(f"{var}/{name}") for name in ("web", "flower", "sandbox")
        })
        self.url = f"http://{LOOPBACK}:{self.ports.web}"
        self.sandbox = Sandbox(f"http://{LOOPBACK}:{self.ports.sandbox}")
        self.environ = {
            **preload_variables(),
            **_SECRETS,
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
        """A process of the table, not started; give variables to run it differently."""
        return Process(
            program(name), ports=self.ports, environ={**self.environ, **environ}, var=self.var
        )

    def beside(self, name: str, *, ports: Ports | None = None) -> Process:
        """Start one more of a program, on these ports if it listens; it is gone after the test."""
        more = Process(
            program(name),
            ports=ports or self.ports,
            environ=self.environ,
            var=self.var / "beside",
        )
        self._extra.append(more)
        more.start()
        more.wait_ready()
        return more

    def set_up(self) -> None:
        """Tables, producers, people, and all processes running.

        As in production, `migrate` signs in as the tables' owner and everything else as a role
        that owns nothing.
        """
        roles.make(self.stack.postgres.url)
        self._manage("migrate", **roles.settings(self.stack.postgres.url, "owner"))
        self._manage("load_demo")
        self.mend()

    def _manage(self, command: str, **environ: str) -> None:
        subprocess.run(
            [sys.executable, "manage.py", command],
            cwd=ROOT,
            env={**self.environ, **environ},
            check=True,
            capture_output=True,
        )

    def mend(self) -> None:
        """Bring back what a test has killed, end what it has added, forget what people got."""
        for process in self._extra:
            process.kill()
        self._extra.clear()
        self.start(*_PROGRAMS)
        self._close_breakers()
        self.sandbox.ask("DELETE", "/messages")
        self.sandbox.steer("")

    def _close_breakers(self) -> None:
        with redis.Redis.from_url(self.stack.state.url) as client:
            for key in client.keys("breaker:*"):
                client.delete(key)

    def start(self, *names: str) -> None:
        """Start those that are down, and wait until they are ready."""
        down = [self.processes[name] for name in names if self.processes[name].pid is None]
        for process in down:
            process.start()
        for process in down:
            process.wait_ready()

    def strike(self, *processes: Process) -> None:
        """Kill these and start them again, all at the same time; they are ready then."""
        for process in processes:
            process.kill()
            process.start()
        for process in processes:
            process.wait_ready()

    def restart_workers(self, **environ: str) -> None:
        """Run the workers with these variables from now on."""
        self.restart(*WORKERS, **environ)

    def restart(self, *names: str, **environ: str) -> None:
        """Run these processes with these variables from now on."""
        for name in names:
            self.processes[name].kill()
            self.processes[name] = self.process(name, **environ)
        self.start(*names)

    def stop(self) -> None:
        """End every process."""
        for process in (*self._extra, *self.processes.values()):
            process.kill()

    # --- As a producer

    def service(self, name: str) -> Service:
        """A producer's service with its key."""
        keys = json.loads((self.var / "demo_keys.json").read_text())
        return Service(self.url, {"Authorization": f"Bearer {keys[name]}"})

    def person(self, *, timezone: str = "UTC", **contacts: str) -> str:
        """A new recipient with one address on each of these channels; returns the user id.

        The timezone is known, so that no P3 waits for the morning of its producer.
        """
        self._people += 1
        user_id = f"somebody_{self._run}_{self._people}"
        addresses = [{"channel": name, "address": each} for name, each in contacts.items()]
        self.service("operator").person(user_id, contacts=addresses, timezone=timezone)
        return user_id

    def wish(self, user_id: str, **wishes: object) -> None:
        """Change what a person allows."""
        path = f"/v1/recipients/{user_id}/preferences"
        self.service("operator").ask("PATCH", path, wishes)

    def otp(self, user_id: str, **fields: object) -> dict[str, object]:
        """What an OTP's request looks like; by e-mail, where every address can steer."""
        return {
            "user_id": user_id,
            "type": "OTP",
            "template_id": "otp_v2",
            "variables": {"code": "108108"},
            "channels": ["email"],
            **fields,
        }

    def mail(self, user_id: str, **fields: object) -> dict[str, object]:
        """What an order mail's request looks like (P2 unless said otherwise)."""
        return {
            "user_id": user_id,
            "type": "ORDER_SHIPPED",
            "template_id": "order_shipped",
            "variables": {"order_id": "ORD-1"},
            "channels": ["email"],
            **fields,
        }

    def send_otp(self, user_id: str) -> UUID:
        """Hand in an OTP; returns the notification's id."""
        return UUID(self.service("auth-service").notify(self.otp(user_id)).body["notification_id"])

    def send_mails(self, count: int, *, user_id: str, **fields: object) -> list[UUID]:
        """Hand in a batch of order mails to one person; returns the notifications' ids."""
        batch = [self.mail(user_id, **fields)] * count
        return [UUID(each) for each in self.service("order-service").notify_all(batch)]

    # --- As the person

    def got(self, notifications: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
        """What the sandbox has of these notifications' (only) deliveries."""
        wanted = set(notifications)
        found = {
            notification_of(UUID(message["delivery_id"])): message
            for message in self.sandbox.messages()
        }
        return {each: message for each, message in found.items() if each in wanted}

    def shown(self, notifications: Sequence[UUID]) -> list[int]:
        """How often the person saw each."""
        got = self.got(notifications)
        return [got[each]["shown"] if each in got else 0 for each in notifications]

    # --- In the database

    def rows(self, statement: str, *parameters: object) -> list[dict[str, Any]]:
        """Run a statement and commit."""
        with (
            psycopg.connect(self.stack.postgres.url, row_factory=dict_row) as link,
            link.cursor() as running,
        ):
            running.execute(statement.encode(), parameters)
            return running.fetchall() if running.description else []

    def deliveries(self, notifications: Sequence[UUID]) -> list[dict[str, Any]]:
        """The rows of these notifications' deliveries."""
        return self.rows(
            "SELECT * FROM delivery WHERE notification_of(id) = ANY(%s) ORDER BY id",
            list(notifications),
        )

    def statuses(self, notifications: Sequence[UUID]) -> list[Status]:
        """In the order of the deliveries' ids."""
        return [Status(row["status"]) for row in self.deliveries(notifications)]

    def reasons(self, notification: UUID) -> list[str]:
        """The reasons of its timeline."""
        found = self.rows(
            "SELECT reason FROM event WHERE notification_id = %s ORDER BY seq", notification
        )
        return [row["reason"] for row in found]

    def until_more_than(self, count: int, notifications: Sequence[UUID]) -> None:
        """Wait until the provider has more than so many of these."""
        until(lambda: len(self.got(notifications)) > count, what=f"more than {count} have come")

    def settled(
        self, notifications: Sequence[UUID], *, within: timedelta = timedelta(seconds=40)
    ) -> list[Status]:
        """Wait until none of these can still leave by itself; returns the statuses."""

        def look() -> list[Status] | None:
            found = self.statuses(notifications)
            return found if found and not OPEN.intersection(found) else None

        return until(look, what=f"{len(notifications)} notifications are settled", within=within)

    def in_status(
        self, status: Status, notifications: Sequence[UUID], *, within: timedelta = _PATIENCE
    ) -> None:
        """Wait until all of these are in one status."""
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

    def let_pass(self, notifications: Sequence[UUID]) -> None:
        """Their leases, retries and waits end now."""
        self.rows(
            "UPDATE delivery SET due_at = now() - interval '6 seconds'"
            " WHERE notification_of(id) = ANY(%s) AND due_at > now()",
            list(notifications),
        )

    def forget_the_killed(self, notifications: Sequence[UUID]) -> None:
        """What killed workers had claimed, or got as a message, is due now; no other wait ends."""
        self.rows(
            "UPDATE delivery SET due_at = now() WHERE notification_of(id) = ANY(%s)"
            " AND status = ANY(%s) AND due_at > now()",
            list(notifications),
            [Status.QUEUED, Status.SENDING],
        )

    @contextmanager
    def locked(self, table: str) -> Iterator[None]:
        """Keep everybody else out of a table: who comes there waits (two seconds at most)."""
        with psycopg.connect(self.stack.postgres.url) as link:
            link.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE".encode())
            yield

    # --- In the two Valkeys

    def ledger_has(self, delivery_id: UUID) -> bool:
        """Whether the sent-ledger knows that a provider took it."""
        with redis.Redis.from_url(self.stack.state.url) as client:
            return bool(client.exists(f"sent:{delivery_id.hex}"))

    def broker(self) -> redis.Redis:
        """A client of the broker."""
        return redis.Redis.from_url(self.stack.broker.url)

    def publish(self, lane: str, delivery_ids: Sequence[UUID]) -> None:
        """Put one more message with these ids into a lane."""
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
    """For promises that say how long something may take."""
    return (now() - moment).total_seconds()
