"""Three RabbitMQ nodes in a cluster behind HAProxy, which has the configuration of docs/haproxy.

The nodes have a common port mapper and cookie. Each has a name, ports, data and a log of its own.
`cluster_partition_handling` is `pause_minority`, as the page of the failover says.
"""

from __future__ import annotations

import secrets
import shutil
import signal
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from notifyproj.devstack.child_process import Child
from notifyproj.devstack.ports import LOOPBACK, free_port, is_free
from notifyproj.devstack.servers import EmbeddedError
from notifyproj.devstack.servers.rabbitmq import PortMapper, RabbitMQ
from notifyproj.devstack.servers.server import Server
from tests.clock import ROOT

HAPROXY: Final = shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
_CONFIGURATION: Final = ROOT / "docs" / "haproxy" / "rabbitmq.cfg"
_NUMBERS: Final = (1, 2, 3)
_START_SECONDS: Final = 10.0
_OTHER_COOKIE: Final = "apart"


class ClusterNode(RabbitMQ):
    """A node of the cluster."""

    helpers = ()
    stop_seconds = 30.0

    def __init__(self, number: int, *, beside: Server, cookie: str, mapper: PortMapper) -> None:
        super().__init__(
            f"rabbitmq-{number}",
            place=beside.place,
            password=beside.password,
            port_mapper=mapper,
        )
        self._cookie = cookie
        self.peers: tuple[ClusterNode, ...] = ()
        """All nodes of the cluster, this one too."""

    def prepare(self) -> None:
        """Write the cookie of the cluster too."""
        super().prepare()
        self.write(".erlang.cookie", self._cookie)

    def settings(self) -> list[str]:
        """Return the lines of `rabbitmq.conf`."""
        formation = "cluster_formation.classic_config.nodes"
        names = enumerate((each.node for each in self.peers), start=1)
        return [
            *super().settings(),
            "log.connection.level = error",
            "cluster_partition_handling = pause_minority",
            "cluster_formation.peer_discovery_backend = classic_config",
            *(f"{formation}.{number} = {name}" for number, name in names),
        ]

    def kill_now(self) -> None:
        """Kill the node without the wait of `kill`, when its data are not needed any more."""
        if self.pid is not None:
            self.signal(signal.SIGKILL)
        self.kill()

    def drain(self) -> None:
        """Prepare the node for a stop: clients and leaders of queues move to the other nodes."""
        self.run("rabbitmq-upgrade", "await_online_quorum_plus_one")
        self.run("rabbitmq-upgrade", "drain")

    def cut_off(self) -> None:
        """End the connections to the other nodes for good, as a split network does."""
        self._give_peers(_OTHER_COOKIE, "erlang:disconnect_node(N)")

    def rejoin(self) -> None:
        """Let the connections to the other nodes come back."""
        self._give_peers(self._cookie, "ok")

    def _give_peers(self, cookie: str, then: str) -> None:
        others = ", ".join(f"'{each.node}'" for each in self.peers if each is not self)
        self.ctl(
            "eval", f"[begin erlang:set_cookie(N, '{cookie}'), {then} end || N <- [{others}]]."
        )


class HAProxy(Child):
    """HAProxy in front of the nodes."""

    stop_signal = signal.SIGTERM

    def __init__(self, folder: Path, nodes: tuple[ClusterNode, ...]) -> None:
        super().__init__("haproxy", log=folder / "haproxy.log")
        self._folder = folder
        self._nodes = nodes
        self.port = free_port(f"{folder}/haproxy")

    def start(self) -> None:
        """Start the process and wait until the port is open.

        Raises:
            EmbeddedError: HAProxy does not start.
            FileNotFoundError: HAProxy is not installed.
        """
        if HAPROXY is None:
            raise FileNotFoundError("haproxy")
        text = _CONFIGURATION.read_text().replace("bind :5672", f"bind {LOOPBACK}:{self.port}")
        for number, node in zip(_NUMBERS, self._nodes, strict=True):
            text = text.replace(f" rabbit{number}:5672", f" {LOOPBACK}:{node.port}")
        path = self._folder / "haproxy.cfg"
        path.write_text(text)
        self.spawn([HAPROXY, "-db", "-f", str(path)], folder=self._folder, environ={})
        deadline = time.monotonic() + _START_SECONDS
        while is_free(self.port):
            if self.wait_for_end(0.05) or time.monotonic() > deadline:
                raise EmbeddedError(f"HAProxy did not start: {self.last_log_line()}")


class Cluster:
    """Three nodes and HAProxy, which start with the block and end with the block.

    Args:
        beside: a server of the stack, in whose folder the nodes have their data.
        folder: of HAProxy.

    Raises:
        EmbeddedError: RabbitMQ is not installed, or a program does not start.
        FileNotFoundError: HAProxy is not installed.
    """

    def __init__(self, *, beside: Server, folder: Path) -> None:
        cookie = secrets.token_hex(16)
        self._mapper = PortMapper("rabbitmq-cluster-epmd", place=beside.place)
        self.nodes = tuple(
            ClusterNode(number, beside=beside, cookie=cookie, mapper=self._mapper)
            for number in _NUMBERS
        )
        for each in self.nodes:
            each.peers = self.nodes
        self.proxy = HAProxy(folder, self.nodes)
        self._ends = ExitStack()

    @property
    def url(self) -> str:
        """The URL of the broker, which leads to HAProxy."""
        first = self.nodes[0]
        return first.url.replace(f":{first.port}/", f":{self.proxy.port}/")

    def node_of_consumer(self, queue: str) -> ClusterNode | None:
        """Return the node to which the consumer of a queue is connected; None: no consumer.

        A queue lists the consumers of a killed node until the node is back.
        """
        running = [each for each in self.nodes if each.pid is not None]
        consumers = running[0].ctl("-q", "list_consumers", "--no-table-headers").splitlines()
        found = [line for line in consumers if line.split("\t")[0] == queue]
        return next((each for each in running if any(each.node in line for line in found)), None)

    def __enter__(self) -> Self:
        with self._ends as ends:
            for each in self.nodes:
                each.erase()
                ends.callback(each.erase)
            ends.callback(self._mapper.stop)
            for each in self.nodes:
                ends.callback(each.kill_now)
                each.launch()
            for each in self.nodes:
                each.wait_ready()
            ends.callback(self.proxy.kill)
            self.proxy.start()
            self._ends = ends.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ends.close()
