"""Servers, processes, stand-ins and people of a run, and what a fault does to them.

Everything is ours alone: a stack `chaos` with a database that is made afresh, ports of its own. The
processes are those of `make demo` that deliver, and a `Crew` keeps them alive as `make demo` does.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import psutil
import psycopg
import redis
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from notifyproj.devstack.child_process import Child
from notifyproj.devstack.ports import LOOPBACK, free_port
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.servers.server import Server
from notifyproj.devstack.servers.valkey import Valkey
from notifyproj.devstack.supervisor.process import ROOT, Process, ProcessFailed, ProcessGroup
from notifyproj.devstack.supervisor.programs import Answers, Ports, program
from providers.contract import Channel
from tests import clock
from tests.chaos import stand_in
from tests.chaos.plans import CHANNELS, PEOPLE, PROCESSES, Manner

VAR: Final = ROOT / "var" / "chaos"
_START_SECONDS: Final = 20.0
_WEBHOOK_SECRET: Final = "whsec_Y2hhb3Mtc2lnbnMtaXRzLXdlYmhvb2tzLXdpdGgtdGhpcw=="
_SETTINGS: Final = {
    "DJANGO_SETTINGS_MODULE": "notifyproj.settings",
    "NOTIFY_SECRET_KEY": "a-key-for-chaos-that-signs-nothing-of-worth",
    "NOTIFY_ENCRYPTION_KEYS": "dGVzdHMtZW5jcnlwdC13aXRoLXRoaXMta2V5LW9ubHk=",
    "NOTIFY_SANDBOX_URL": f"http://{LOOPBACK}:1",  # in-app and chat are not asked
    "NOTIFY_SANDBOX_SECRET": _WEBHOOK_SECRET,
    "NOTIFY_ROUTES": "push=fcm,sms=twilio,email=smtp,webhook=webhook,in_app=sandbox,chat=sandbox",
    "NOTIFY_ALLOWED_HOSTS": LOOPBACK,
    "NOTIFY_BULK_JOB_PER_HOUR": "0",  # audiences of tests leave at once
    "NOTIFY_CAPS": "none",  # one person stands for many
    "NOTIFY_WEBHOOK_SECRETS": _WEBHOOK_SECRET,
    "NOTIFY_WEBHOOK_ALLOW_PRIVATE": "yes",
    "NOTIFY_TWILIO_ACCOUNT_SID": "AC" + "0" * 32,
    "NOTIFY_TWILIO_AUTH_TOKEN": "signs-nothing",
    "NOTIFY_TWILIO_FROM": "+15550001111",
    "NOTIFY_SMTP_FROM": "Chaos <chaos@chaos.example>",
    "PYTHONUNBUFFERED": "1",
    "PATH": "/usr/bin:/bin",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """The stand-ins' ports."""

    control: int
    push: int
    sms: int
    email: int
    webhook: int


class StandIns(Child):
    """The process of `stand_in`."""

    def __init__(self, folder: Path) -> None:
        super().__init__("stand-ins", log=folder / "stand_ins.log")
        self.calls = folder / "calls.jsonl"
        names = ("control", *(channel.label for channel in CHANNELS))
        self.doors = Doors(**{name: free_port(f"{folder}/{name}") for name in names})

    def start(self, seed: str) -> None:
        """Start with an empty log of calls; returns when it listens.

        Raises:
            ProcessFailed: it does not.
        """
        self.calls.unlink(missing_ok=True)
        self.calls.touch()
        doors = self.doors
        ports = (doors.control, doors.push, doors.sms, doors.email, doors.webhook)
        command = [sys.executable, "-m", "tests.chaos.stand_in", seed, str(self.calls)]
        environ = {"PATH": "/usr/bin:/bin"}
        self.spawn([*command, *map(str, ports)], folder=ROOT, environ=environ)
        deadline = time.monotonic() + _START_SECONDS
        while not self._listens():
            if self.wait_for_end(0.05) or time.monotonic() > deadline:
                raise ProcessFailed(f"the stand-ins did not start: {self.last_log_line()}")

    def steer(self, channel: Channel, manner: Manner) -> None:
        """Have a provider behave like this from now on."""
        self._ask(json.dumps(stand_in.steering(channel, manner)).encode())

    def _listens(self) -> bool:
        try:
            self._ask(b"null")
        except OSError:
            return False
        return True

    def _ask(self, body: bytes) -> None:
        link = http.client.HTTPConnection(LOOPBACK, self.doors.control, timeout=5)
        try:
            link.request("POST", "/steer", body)
            link.getresponse().read()
        finally:
            link.close()


class Stage:
    """A running product on stand-ins; a context manager that stops all of it."""

    def __init__(
        self,
        *,
        seed: int,
        clocks: Mapping[str, int] | None = None,
        settings: Mapping[str, str] | None = None,
        beside: Sequence[str] = (),
        people: int = PEOPLE,
    ) -> None:
        """Choose ports; nothing starts yet.

        Args:
            seed: decides what the stand-ins answer.
            clocks: processes whose host's clock is wrong, and by how many seconds.
            settings: environment variables that differ from those of other runs.
            beside: processes beside those of each run.
            people: recipients of the run.
        """
        self._seed = str(seed)
        self._people = str(people)
        self._clocks = clocks or {}
        self._settings = settings or {}
        self._names = (*PROCESSES, *beside)
        VAR.mkdir(parents=True, exist_ok=True)
        self.ports = Ports(**{
            name: free_port(f"{VAR}/{name}") for name in ("web", "live", "flower", "sandbox")
        })
        self.stand_ins = StandIns(VAR)
        self.stack = Stack("chaos", root=ROOT, environ={})
        self.processes: dict[str, Process] = {}
        self.key = ""
        self.told: list[str] = []
        """What the supervisor said of processes that had ended."""
        self._crew = ProcessGroup([], report=self.told.append)
        self._exits = ExitStack()
        self._orphaned: list[int] = []
        """Process groups whose first process was killed alone."""

    def __enter__(self) -> Self:
        """Start servers, stand-ins and processes; return when the web process is ready.

        Raises:
            EmbeddedError: a server does not start.
            ProcessFailed: a process or the stand-ins do not.
        """
        with ExitStack() as undo:
            self.stand_ins.start(self._seed)
            undo.callback(self.stand_ins.stop)
            urls = undo.enter_context(self.stack).urls()
            self._start_afresh()
            environ = self._environ(urls)
            self._command(["manage.py", "migrate"], environ)
            people = ["-m", "tests.chaos.people", self._people, str(self.stand_ins.doors.webhook)]
            self.key = self._command(people, environ).strip()
            self.processes = {name: self._process(name, environ) for name in self._names}
            self._crew = ProcessGroup(
                [self.processes[name] for name in ("web", *self._after("web"))],
                report=self.told.append,
            )
            undo.callback(self._crew.stop)
            self._crew.start()
            self.processes["web"].wait_ready(sign=Answers("web", "/readyz"))
            self.told.clear()
            self._exits = undo.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._exits.close()

    def stop(self) -> list[str]:
        """Stop everything; returns what still ran afterwards and had to be killed."""
        self._exits.close()
        left = []
        for group in self._orphaned:
            try:
                os.killpg(group, signal.SIGKILL)
            except ProcessLookupError:
                continue
            left.append(f"process group {group} ran on after the stop")
        return left

    @property
    def url(self) -> str:
        """The API's host and port."""
        return f"{LOOPBACK}:{self.ports.web}"

    def repair(self) -> None:
        """Start again what has ended."""
        self._crew.restart_dead()

    def server(self, name: str) -> Server:
        """`broker`, `state` or `postgres`."""
        servers: dict[str, Server] = {
            "broker": self.stack.broker,
            "state": self.stack.state,
            "postgres": self.stack.postgres,
        }
        return servers[name]

    def valkey(self, name: str) -> Valkey:
        """`broker` or `state`."""
        return {"broker": self.stack.valkey_broker, "state": self.stack.state}[name]

    def fill(self, name: str, *, is_full: bool) -> None:
        """Let a Valkey take no more writes, or take them again."""
        with redis.Redis.from_url(self.valkey(name).url) as client:
            client.config_set("maxmemory", "1" if is_full else "0")

    def set_read_only(self, *, is_on: bool) -> None:
        """Let Postgres refuse writes, as the former primary of a failover does."""
        state = "on" if is_on else "off"
        with psycopg.connect(self.stack.postgres.url, autocommit=True) as link:
            link.execute("SET default_transaction_read_only = off")
            link.execute(f"ALTER SYSTEM SET default_transaction_read_only = {state}".encode())
            link.execute("SELECT pg_reload_conf()")

    def stop_still(self, name: str) -> frozenset[int]:
        """Send SIGSTOP to a process; return the local ports of its connections."""
        process = self.processes[name]
        if process.pid is None:
            return frozenset()
        process.signal(signal.SIGSTOP)
        root = psutil.Process(process.pid)
        return frozenset(
            link.laddr.port
            for each in (root, *root.children(recursive=True))
            for link in each.net_connections(kind="tcp")
        )

    def signal_server(self, name: str, number: signal.Signals) -> None:
        """Send a signal to a server and all its processes: a back end of Postgres has a session."""
        root = psutil.Process(self.server(name).pid)
        for each in (root, *root.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):  # a session that has just ended
                each.send_signal(number)

    def kill_main(self, name: str) -> None:
        """Send SIGKILL to the process of the supervisor, and to none of its children."""
        pid = self.processes[name].pid
        if pid is not None:
            self._orphaned.append(pid)  # it leads a group of its own
            os.kill(pid, signal.SIGKILL)

    def _after(self, first: str) -> list[str]:
        return [name for name in self._names if name != first]

    def _start_afresh(self) -> None:
        for name in ("broker", "state"):
            self.fill(name, is_full=False)
            self.valkey(name).flush()
        self.set_read_only(is_on=False)  # a run that was killed may have left it on
        self.stack.postgres.empty()

    def _environ(self, urls: Mapping[str, str]) -> dict[str, str]:
        doors = self.stand_ins.doors
        return {
            **_SETTINGS,
            **urls,
            "NOTIFY_PUBLIC_URL": f"http://{self.url}",
            "NOTIFY_FCM_URL": f"http://{LOOPBACK}:{doors.push}",
            "NOTIFY_FCM_CREDENTIALS": _service_account(doors.push),
            "NOTIFY_TWILIO_URL": f"http://{LOOPBACK}:{doors.sms}",
            "NOTIFY_SMTP_URL": f"smtp://{LOOPBACK}:{doors.email}",
            "NOTIFY_FLOWER_PASSWORD": secrets.token_hex(8),
            **self._settings,
        }

    def _process(self, name: str, environ: Mapping[str, str]) -> Process:
        moved = _wrong_clock(self._clocks[name]) if name in self._clocks else {}
        process = Process(program(name), ports=self.ports, environ={**environ, **moved}, var=VAR)
        process.log.unlink(missing_ok=True)
        return process

    def _command(self, arguments: list[str], environ: Mapping[str, str]) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=environ,
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise ProcessFailed(f"{' '.join(arguments)} failed: {done.stderr.strip()[-2000:]}")
        return done.stdout


def _wrong_clock(seconds: int) -> dict[str, str]:
    """Variables that move a process's clock, and leave the clock of its timers alone.

    Raises:
        ProcessFailed: there is no C compiler.
    """
    try:
        return clock.moved(seconds, folder=VAR)
    except FileNotFoundError:
        raise ProcessFailed("a wrong clock needs a C compiler: apt-get install gcc") from None


def _service_account(port: int) -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return json.dumps({
        "type": "service_account",
        "project_id": "chaos",
        "client_email": "chaos@chaos.example",
        "private_key": pem.decode(),
        "token_uri": f"http://{LOOPBACK}:{port}/token",
    })
