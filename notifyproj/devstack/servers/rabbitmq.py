"""RabbitMQ from the system's package, on TCP at 127.0.0.1 with a password, for tests.

    epmd        names of the Erlang nodes, on a port of the stack
    beam.smp    the node: AMQP, and a port for `rabbitmqctl`

The node has its own name, port mapper, cookie, data and log, and no plugins until `management`: it
meets no other RabbitMQ of the machine. The working folder of both processes is the data folder, so
both are found after a killed run.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from amqp import AMQPError, Connection  # type: ignore[import-untyped]  # untyped

from notifyproj.devstack.child_process import Child
from notifyproj.devstack.ports import LOOPBACK, free_port
from notifyproj.devstack.servers.errors import EmbeddedError
from notifyproj.devstack.servers.location import PRIVATE, Location
from notifyproj.devstack.servers.server import ENVIRONMENT, Server

_SCRIPTS: Final = Path("/usr/lib/rabbitmq/bin")
"""The scripts behind Debian's wrappers in /usr/sbin, which would switch to the user `rabbitmq`."""
_USER: Final = "notify"
_VHOST: Final = "/"
_ANSWER_SECONDS: Final = 2.0
"""Timeout of a look at a loopback server."""
_CTL_SECONDS: Final = 60.0
"""Timeout of `rabbitmqctl`, which starts an Erlang machine of its own."""
_SAVED_SECONDS: Final = 1.0
"""Time in which RabbitMQ writes a new quorum queue to the disk."""
_MANAGEMENT: Final = "rabbitmq_management"
_MEMORY: Final = "0.4"
"""RabbitMQ's default of the memory watermark: a part of the machine's memory."""


class PortMapper(Child):
    """Erlang's port mapper, which knows the ports of nodes by name."""

    def __init__(self, name: str, *, place: Location) -> None:
        super().__init__(name, log=place.folder / f"{name}.log")
        self._place = place
        self.port = 0

    def launch(self, *, folder: Path) -> None:
        """Start the process in a folder; a running process stays."""
        if self.pid is not None:
            return
        self.port = self.port or free_port(f"{self._place.folder}/{self.name}")
        self.log.unlink(missing_ok=True)
        self.spawn(
            ["epmd", "-port", str(self.port), "-address", LOOPBACK],
            folder=folder,
            environ=ENVIRONMENT,
            account=self._place.account,
        )


class RabbitMQ(Server):
    """A RabbitMQ node; queues and messages survive a restart and a SIGKILL.

    Args:
        port_mapper: the one of a cluster; without it the node has its own.
    """

    program = "beam.smp"
    helpers: ClassVar[Sequence[str]] = ("epmd",)
    stop_signal = signal.SIGTERM

    def __init__(
        self, name: str, *, place: Location, password: str, port_mapper: PortMapper | None = None
    ) -> None:
        super().__init__(name, place=place, password=password)
        self._port_mapper = port_mapper or PortMapper(f"{name}-epmd", place=place)
        self._shares_port_mapper = port_mapper is not None
        self._ports: dict[str, int] = {}

    @property
    def url(self) -> str:
        """An `amqp://` URL of the virtual host `/`."""
        return f"amqp://{_USER}:{self.password}@{LOOPBACK}:{self.port}//"

    @property
    def node(self) -> str:
        """The name of the Erlang node."""
        return f"notify-{self._port('node')}@localhost"

    def launch(self) -> None:
        """Start the port mapper and the node without waiting; `wait_ready` must follow.

        Raises:
            EmbeddedError: RabbitMQ is not installed.
        """
        if not (_SCRIPTS / "rabbitmq-server").exists() or not shutil.which("epmd"):
            raise EmbeddedError(
                "RabbitMQ is not installed: install Debian's package rabbitmq-server, or leave"
                " BROKER out for Valkey."
            )
        super().launch()

    def prepare(self) -> None:
        """Write the node's configuration and start the port mapper."""
        super().prepare()
        self.write("rabbitmq.conf", "\n".join([*self.settings(), ""]))
        self.write("enabled_plugins", "[].\n")
        self._port_mapper.launch(folder=self.data)

    def command(self) -> list[str]:
        """Return the command of the node in the foreground; the password is in a file."""
        return [str(_SCRIPTS / "rabbitmq-server"), "-noinput"]

    def environ(self) -> Mapping[str, str]:
        """Return the variables of the node and of `rabbitmqctl`."""
        # An idle scheduler of Erlang would else spin, on a processor that other processes need.
        arguments = "-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none"
        return {
            **ENVIRONMENT,
            "HOME": str(self.data),  # of the Erlang cookie
            "ERL_EPMD_PORT": str(self._port_mapper.port),
            "ERL_CRASH_DUMP": str(self.data / "crash.dump"),
            "RABBITMQ_ALLOW_INPUT": "1",  # no shell between this process and the node
            "RABBITMQ_CONF_ENV_FILE": os.devnull,
            "RABBITMQ_CONFIG_FILE": str(self.data / "rabbitmq.conf"),
            "RABBITMQ_DIST_PORT": str(self._port("node")),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.data / "enabled_plugins"),
            "RABBITMQ_LOG_BASE": str(self.data / "log"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_MNESIA_BASE": str(self.data / "mnesia"),
            "RABBITMQ_NODENAME": self.node,
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": arguments,
        }

    def answers(self) -> bool:
        """Return True if the node takes connections of its user."""
        try:
            with self.link():
                return True
        except (OSError, AMQPError):
            return False

    def stop(self) -> None:
        """Stop the node cleanly, then its own port mapper."""
        super().stop()
        if not self._shares_port_mapper:
            self._port_mapper.stop()

    def kill(self) -> None:
        """Kill the node and its own port mapper, a second after the call.

        RabbitMQ 3.10 loses the leader of a quorum queue that is declared within 0.6 s of a kill.
        """
        self.wait_for_end(_SAVED_SECONDS)
        super().kill()
        if not self._shares_port_mapper:
            self._port_mapper.kill()

    def flush(self) -> None:
        """Delete all queues, exchanges and messages now, and end all connections."""
        self.ctl("delete_vhost", _VHOST)
        self.ctl("add_vhost", _VHOST)
        self.ctl("set_permissions", "-p", _VHOST, _USER, ".*", ".*", ".*")

    def purge(self) -> None:
        """Delete the messages that wait in queues; workers keep their messages."""
        with self.link() as link, link.channel() as channel:
            for name in self.ctl("-q", "list_queues", "--no-table-headers", "name").split():
                channel.queue_purge(name)

    def waiting(self, queue: str) -> int:
        """Return the number of messages that wait in a queue."""
        with self.link() as link, link.channel() as channel:
            found: int = channel.queue_declare(queue, passive=True).message_count
            return found

    def discard(self, queue: str) -> int:
        """Delete the messages that wait in a queue; return their number."""
        with self.link() as link, link.channel() as channel:
            found: int = channel.queue_purge(queue)
            return found

    @contextlib.contextmanager
    def without_leader(self, queue: str) -> Iterator[None]:
        """Take the leader from a quorum queue, which then answers no publisher and no consumer."""
        member = f"{{'%2F_{queue}', node()}}"
        self.ctl("eval", f"ra:stop_server(quorum_queues, {member}).")
        try:
            yield
        finally:
            self.ctl("eval", f"ra:restart_server(quorum_queues, {member}).")

    @contextlib.contextmanager
    def full(self) -> Iterator[None]:
        """Raise a memory alarm, in which RabbitMQ blocks the connections that publish."""
        self.ctl("set_vm_memory_high_watermark", "0")
        try:
            yield
        finally:
            self.ctl("set_vm_memory_high_watermark", _MEMORY)

    @property
    def management_api(self) -> str:
        """The address of the API that answers during `management`, without the user."""
        return f"http://{LOOPBACK}:{self._port('management')}/api/"

    @contextlib.contextmanager
    def management(self) -> Iterator[None]:
        """Run the plugin `rabbitmq_management`."""
        self.run("rabbitmq-plugins", "enable", _MANAGEMENT)
        try:
            yield
        finally:
            self.run("rabbitmq-plugins", "disable", _MANAGEMENT)

    def ctl(self, *arguments: str) -> str:
        """Run `rabbitmqctl` against the node and return the output (see `run`)."""
        return self.run("rabbitmqctl", *arguments)

    def run(self, script: str, *arguments: str) -> str:
        """Run a script of RabbitMQ against the node and return the output.

        Raises:
            EmbeddedError: the command failed.
        """
        account = self.place.account
        done = subprocess.run(
            [str(_SCRIPTS / script), *arguments],
            cwd=self.data,
            env=dict(self.environ()),
            capture_output=True,
            text=True,
            check=False,
            timeout=_CTL_SECONDS,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )
        if done.returncode:
            said = (done.stderr or done.stdout).strip().replace("\n", " ")
            raise EmbeddedError(f"{script} {arguments[0]}: {said}")
        return done.stdout

    def settings(self) -> list[str]:
        """Return the lines of `rabbitmq.conf`."""
        self.port = self.port or free_port(f"{self.place.folder}/{self.name}")
        return [
            f"listeners.tcp.1 = {LOOPBACK}:{self.port}",
            f"default_user = {_USER}",
            f"default_pass = {self.password}",
            "disk_free_limit.absolute = 50MB",
            f"vm_memory_high_watermark.relative = {_MEMORY}",
            f"management.tcp.ip = {LOOPBACK}",
            f"management.tcp.port = {self._port('management')}",
        ]

    def _port(self, purpose: str) -> int:
        """Return the port of `node` or `management`, which stays for the life of this object."""
        if purpose not in self._ports:
            self._ports[purpose] = free_port(f"{self.place.folder}/{self.name}/{purpose}")
        return self._ports[purpose]

    def write(self, name: str, text: str) -> None:
        """Write a file for the account of the node alone."""
        path = self.data / name
        path.touch(mode=PRIVATE & 0o600)
        self.place.chown(path)
        path.write_text(text)

    @contextlib.contextmanager
    def link(self) -> Iterator[Connection]:
        """Connect for a block."""
        # By amqp, because kombu would keep its own transport for the service in the same process.
        with Connection(
            f"{LOOPBACK}:{self.port}",
            userid=_USER,
            password=self.password,
            virtual_host=_VHOST,
            connect_timeout=_ANSWER_SECONDS,
        ) as link:
            yield link
