"""Prometheus sees every process: the sum of two web processes, and each worker at a port."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from urllib.error import URLError
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families

from notifyproj.devstack.demo.environment import Service, until
from notifyproj.devstack.ports import LOOPBACK, free_port
from notifyproj.devstack.supervisor.process import Process
from notifyproj.devstack.supervisor.programs import program
from tests.scenarios.world import WORKERS, World

_REQUESTS = 12


def _total(url: str, name: str, **labels: str) -> float:
    """Return the sum of the samples of a metric at an address; 0 while nobody listens."""
    try:
        with urlopen(f"{url}/metrics") as answer:  # noqa: S310 - loopback
            families = list(text_string_to_metric_families(answer.read().decode()))
    except URLError:
        return 0.0
    return sum(
        sample.value
        for family in families
        for sample in family.samples
        if sample.name == f"notifications_{name}" and labels.items() <= sample.labels.items()
    )


@contextmanager
def _web_of_two_processes(world: World) -> Iterator[str]:
    """Start a web server with two processes; yield its URL."""
    ports = replace(world.ports, web=free_port(f"{world.var}/web of two"))
    web = program("web")
    two = replace(web, arguments=(*web.arguments, "--workers=2"))
    process = Process(two, ports=ports, environ=world.environ, var=world.var / "two")
    process.start()
    try:
        process.wait_ready()
        yield f"http://{LOOPBACK}:{ports.web}"
    finally:
        process.stop()


def test_each_process_is_counted_once(world: World) -> None:
    first = free_port(f"{world.var}/metrics")
    world.repair(*WORKERS, NOTIFY_METRICS_LISTEN=f"{LOOPBACK}:{first}-{first + 9}")
    workers = [f"http://{LOOPBACK}:{port}" for port in range(first, first + 10)]
    key = json.loads((world.var / "demo_keys.json").read_text())["auth-service"]
    with _web_of_two_processes(world) as url:
        service = Service(url, {"Authorization": f"Bearer {key}"})
        somebody = world.person(email="x@sandbox.example")
        sent = [service.notify(world.otp(somebody)) for _ in range(_REQUESTS)]
        assert len(sent) == _REQUESTS
        # Either process may answer: each answers with the sum.
        for _ in range(10):
            assert _total(url, "accepted_total", priority="P0") == _REQUESTS

        def calls() -> float:
            return sum(_total(each, "calls_total", outcome="accepted") for each in workers)

        until(lambda: calls() == _REQUESTS, what="every call is counted at one worker")
        assert _total(url, "calls_total") == 0
        assert sum(_total(each, "worker_concurrency") for each in workers) > 0
        assert sum(_total(each, "sweep_seconds_count") for each in workers) > 0
