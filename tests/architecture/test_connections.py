"""The processes' connections to PostgreSQL fit into what the documents ask of the server."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Final

import pytest

from notifications.features.inbox.live import http as live_http
from notifyproj.all_in_one.programs import PagePorts, table
from notifyproj.environment import Environment
from tests.architecture import compose, manifests, units
from tests.clock import ROOT

_WEB_SLOTS: Final = int(Environment.model_fields["web_slots"].default)
_BESIDE: Final = 4
"""Threads of a worker beside those of `--concurrency`: the reader without a broker, the comparison
of clocks, the watch of fallbacks, late answers."""
_RESERVED: Final = 10
"""For superusers, `migrate` and a person with psql."""
_PROCESSES: Final = set(compose.services()) - compose.SERVERS


def _option(arguments: Sequence[str], name: str, *, default: str = "") -> str:
    [found] = [each for each in arguments if each.startswith(f"--{name}=")] or [f"={default}"]
    return found.partition("=")[2]


def _connections(arguments: Sequence[str]) -> int:
    """Return the most connections of a container, from its command."""
    words = list(map(str, arguments))
    if "notifyproj.web" in words:
        workers = _option(words, "workers", default="1")
        return int(workers) * (_WEB_SLOTS + 1)
    if "notifyproj.live" in words:  # rounds, other work, the clock
        return live_http._TOKEN_THREADS + 3
    if "worker" in words:
        threads = int(_option(words, "concurrency"))
        stores = "in_app" in _option(words, "queues")  # a call of the inbox has its own connection
        return threads * (2 if stores else 1) + _BESIDE
    if "beat" in words:
        return 2
    names = {word.rpartition("/")[2] for word in words}
    assert {"flower", "nginx", "migrate"} & names, words  # `migrate` is in the reserve
    return 0


def _of_compose() -> int:
    total = 0
    for name in _PROCESSES:
        service = compose.services()[name]
        copies = service.get("deploy", {}).get("replicas", 1)
        total += copies * _connections([*service.get("entrypoint", []), *service["command"]])
    return total


def _of_manifests(objects: list[dict[str, Any]], *, rolls_out: bool) -> int:
    """Return the connections with the most pods; in a roll-out a quarter more, and at least one."""
    total = 0
    templates = manifests.pods(objects)
    deployments = manifests.by_name(objects, "Deployment")
    for name, (_, most) in manifests.replicas(objects).items():
        [container] = templates[name]["spec"]["containers"]
        recreates = deployments[name]["spec"].get("strategy", {}).get("type") == "Recreate"
        pods = most + (math.ceil(most / 4) if rolls_out and not recreates else 0)
        total += pods * _connections([*container.get("command", []), *container.get("args", [])])
    return total


def _documented() -> dict[str, tuple[int, int | None]]:
    """Return the table of deploy.md: most connections, `max_connections` (None: a pooler)."""
    text = (ROOT / "docs" / "deploy.md").read_text()
    rows = re.findall(r"^\| `([\w./-]+)` \| ([\d,]+) \| ([^|]+) \|$", text, re.MULTILINE)
    return {
        name: (int(most.replace(",", "")), int(limit) if limit.isdigit() else None)
        for name, most, limit in rows
    }


def test_compose_has_room_for_each_connection() -> None:
    most = _of_compose()
    [given] = [
        int(each.partition("=")[2])
        for each in compose.services()["postgres"]["command"]
        if each.startswith("max_connections=")
    ]
    assert _documented()["docker-compose.yml"] == (most, given)
    assert most + _RESERVED <= given


def test_a_host_without_containers_has_room_for_each_connection() -> None:
    processes = units.enabled() - {"notify.target"}
    groups = [re.sub(r"-\d$", "", name) for name in processes]
    most = sum(_connections(units.command(name)) for name in groups)
    given = re.search(r"max_connections = (\d+)", (units.FOLDER / "servers").read_text())
    assert given
    assert _documented()["docs/systemd"] == (most, int(given[1]))
    assert most + _RESERVED <= int(given[1])


def test_the_container_of_all_processes_has_fewer_connections() -> None:
    most = sum(_connections(each.arguments) for each in table(PagePorts(), host=""))
    assert _documented()["small"] == (most, _documented()["docker-compose.yml"][1])


def test_the_autoscalers_of_kubernetes_stay_within_the_documented_limit() -> None:
    most = _of_manifests(manifests.rendered(manifests.FOLDER), rolls_out=True)
    documented, given = _documented()["docs/kubernetes"]
    assert documented == most
    assert given is not None
    assert most + _RESERVED <= given


def test_the_autoscalers_by_lag_are_documented_with_a_pooler() -> None:
    most = _of_manifests(manifests.rendered(manifests.AUTOSCALING), rolls_out=True)
    assert _documented()["docs/kubernetes-autoscaling"] == (most, None)


def test_an_unknown_process_is_not_left_out() -> None:
    with pytest.raises(AssertionError):
        _connections(["python", "-m", "notifyproj.other"])
