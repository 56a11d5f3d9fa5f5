"""Every lane has a worker, here and in production: else its messages would wait for ever."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import yaml

from notifications.core.rules.lane import EXPAND, LANES, OPS, TELL
from notifyproj.all_in_one.programs import PagePorts, table
from notifyproj.devstack.supervisor.programs import PROGRAMS

_ROOT = Path(__file__).resolve().parents[2]
_QUEUES = sorted([EXPAND, OPS, TELL, *(lane.name for lane in LANES)])


def _served(commands: Iterable[Iterable[str]]) -> list[str]:
    flag = "--queues="
    options = [part.removeprefix(flag) for each in commands for part in each if flag in part]
    return sorted(queue for option in options for queue in option.split(","))


def test_the_supervisor_serves_each_queue() -> None:
    assert sorted(set(_served(program.arguments for program in PROGRAMS))) == _QUEUES


def test_only_one_of_its_workers_takes_marketing() -> None:
    served = _served(program.arguments for program in PROGRAMS)
    marketing = [queue for queue in served if "p3" in queue.split(".")]
    assert sorted(marketing) == sorted(set(marketing))
    assert marketing


def test_the_container_of_all_processes_serves_p0_twice_and_each_other_queue_once() -> None:
    served = _served(each.arguments for each in table(PagePorts(), host=""))
    urgent = [name for name in _QUEUES if name.startswith("p0.")]
    assert served == sorted(_QUEUES + urgent)


def test_the_containers_of_processes_serve_each_queue_once() -> None:
    services = yaml.safe_load((_ROOT / "docker-compose.yml").read_text())["services"].values()
    assert _served(service.get("command", []) for service in services) == _QUEUES
