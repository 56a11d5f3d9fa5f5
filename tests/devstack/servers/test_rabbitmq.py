"""The RabbitMQ for tests: what the node keeps, what the node forgets, and what it survives."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from kombu import Connection

from notifyproj.devstack.ports import LOOPBACK
from notifyproj.devstack.servers import EmbeddedError, Stack, rabbitmq
from notifyproj.devstack.servers.rabbitmq import RabbitMQ
from notifyproj.devstack.supervisor.process import ROOT
from tests.brokers import rabbitmq_only

_OTHERS = {"DATABASE_URL": "postgresql://elsewhere/db", "REDIS_URL": "redis://elsewhere"}
_QUEUE = "kept"


def _stack(root: Path) -> Stack:
    return Stack("own", root=root, environ=_OTHERS, broker="rabbitmq")


@pytest.fixture
def node(tmp_path: Path) -> Iterator[RabbitMQ]:
    with _stack(tmp_path) as stack:
        assert isinstance(stack.broker, RabbitMQ)
        place = stack.broker.place
        yield stack.broker
    if place.account is not None:  # as root its data is not under tmp_path
        shutil.rmtree(place.folder.parent)


def _put(node: RabbitMQ) -> None:
    options = {"confirm_publish": True}
    with Connection(node.url, transport_options=options) as link, link.SimpleQueue(_QUEUE) as queue:
        queue.put({"n": 1})


@rabbitmq_only
def test_a_message_survives_a_kill_and_a_restart(node: RabbitMQ) -> None:
    _put(node)
    node.kill()
    node.start()
    node.restart()
    assert node.waiting(_QUEUE) == 1
    assert node.discard(_QUEUE) == 1


@rabbitmq_only
def test_a_flush_deletes_the_queues(node: RabbitMQ) -> None:
    _put(node)
    node.flush()
    assert not node.ctl("-q", "list_queues", "--no-table-headers", "name").strip()
    _put(node)
    assert node.waiting(_QUEUE) == 1


@rabbitmq_only
def test_it_listens_on_loopback_alone_and_asks_for_the_password(node: RabbitMQ) -> None:
    pid = node.pid
    assert pid is not None
    family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    listening = [
        each.laddr.ip
        for process in family
        for each in process.net_connections()
        if each.status == psutil.CONN_LISTEN
    ]
    assert set(listening) == {LOOPBACK}
    wrong = Connection(node.url.replace(node.password, "wrong"))
    with pytest.raises(wrong.channel_errors, match="ACCESS_REFUSED"), wrong:
        wrong.connect()


@rabbitmq_only
def test_the_node_of_a_killed_run_is_found_and_stopped(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path\n"
        "from notifyproj.devstack.servers import Stack\n"
        f"stack = Stack('own', root=Path(sys.argv[1]), environ={_OTHERS!r}, broker='rabbitmq')\n"
        "stack.start()\n"
        "print(stack.broker.pid, flush=True); time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        old = psutil.Process(int(run.stdout.readline()))
        old.send_signal(signal.SIGSTOP)  # so that it misses the death of its parent
        run.kill()
    with _stack(tmp_path) as stack:
        assert not old.is_running()
        place = stack.broker.place
    if place.account is not None:
        shutil.rmtree(place.folder.parent)


def test_a_system_without_rabbitmq_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rabbitmq, "_SCRIPTS", tmp_path)
    with pytest.raises(EmbeddedError, match="package rabbitmq-server"):
        _stack(tmp_path).start()
