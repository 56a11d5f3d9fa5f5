"""The autoscalers of docs: a Prometheus server scrapes our /metrics and answers their queries."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any, Final
from urllib.error import URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

import kubernetes_validate
import pytest
import yaml
from pytest_django.live_server_helper import LiveServer

from notifications.core import clock
from notifications.core.models import LaneLag
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.lane_lag import REPLICAS
from notifications.core.telemetry import instruments
from providers.contract import Channel
from tests.providers.fakes import free_port

_FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "kubernetes-autoscaling"
_KEDA: Final = list(yaml.safe_load_all((_FOLDER / "keda.yaml").read_text()))
_HPA: Final = list(yaml.safe_load_all((_FOLDER / "hpa.yaml").read_text()))
_WITHIN_SECONDS: Final = 60.0
_pause: Final = Event()

needs_prometheus = pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="prometheus is a package of Debian"
)


def _queries() -> dict[str, str]:
    """Return the query of each scaled worker, as KEDA and as the adapter ask."""
    found = {}
    for each in _KEDA:
        [trigger] = each["spec"]["triggers"]
        found[each["metadata"]["name"]] = trigger["metadata"]["query"]
    [rule] = yaml.safe_load(_HPA[0]["data"]["config.yaml"])["externalRules"]
    for each in _HPA[1:]:
        [metric] = each["spec"]["metrics"]
        labels = metric["external"]["metric"]["selector"]["matchLabels"]
        matchers = ",".join(f'{name}="{value}"' for name, value in labels.items())
        query = rule["metricsQuery"].replace("<<.Series>>", rule["seriesQuery"])
        found[f"hpa {each['metadata']['name']}"] = query.replace("<<.LabelMatchers>>", matchers)
    return found


def test_the_replicas_are_those_of_the_recommendation() -> None:
    bounds = {each["metadata"]["name"]: each["spec"] for each in _KEDA}
    for priority, (least, most) in REPLICAS.items():
        spec = bounds[f"worker-{priority.name.lower()}"]
        assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (least, most)
    for each in _HPA[1:]:
        spec = bounds[each["metadata"]["name"]]
        assert each["spec"]["minReplicas"] == spec["minReplicaCount"]
        assert each["spec"]["maxReplicas"] == spec["maxReplicaCount"]


def test_kubernetes_takes_the_autoscalers() -> None:
    for each in _HPA:
        kubernetes_validate.validate(each, "1.32", strict=True)


@pytest.fixture
def prometheus(live_server: LiveServer, tmp_path: Path) -> Iterator[str]:
    """The URL of a Prometheus server that scrapes the live server each second."""
    job = {
        "job_name": "notifications-web",
        "static_configs": [{"targets": [urlsplit(live_server.url).netloc]}],
    }
    config = {"global": {"scrape_interval": "1s"}, "scrape_configs": [job]}
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    address = f"127.0.0.1:{free_port()}"
    command = [
        "/usr/bin/env",
        "prometheus",
        f"--config.file={tmp_path / 'prometheus.yml'}",
        f"--storage.tsdb.path={tmp_path / 'data'}",
        f"--web.listen-address={address}",
    ]
    with (tmp_path / "log").open("w") as log, subprocess.Popen(command, stderr=log) as server:
        yield f"http://{address}"
        server.terminate()


def _value(prometheus: str, query: str) -> float | None:
    """Return the value of a query with one series; None: no answer or no series yet."""
    url = f"{prometheus}/api/v1/query?{urlencode({'query': query})}"
    try:
        with urlopen(url, timeout=5) as answer:  # noqa: S310 - our own server
            found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
    except (URLError, ConnectionError):
        return None
    assert len(found) <= 1, query
    return float(found[0]["value"][1]) if found else None


def _wait_for(prometheus: str, query: str, wanted: float | None = None) -> float:
    """Ask until the query has a value, or the wanted value."""
    deadline = time.monotonic() + _WITHIN_SECONDS
    while time.monotonic() < deadline:
        value = _value(prometheus, query)
        if value is not None and wanted in {None, value}:
            return value
        _pause.wait(0.2)
    pytest.fail(f"{query} has not become {wanted}")


@needs_prometheus
@pytest.mark.django_db(transaction=True)
def test_prometheus_answers_the_queries_from_our_metrics(prometheus: str) -> None:
    for priority, channel, waiting in (
        (Priority.P2, Channel.PUSH, 150_000),
        (Priority.P3, Channel.EMAIL, 200_000),
        (Priority.P3, Channel.SMS, 50_000),
    ):
        LaneLag.objects.create(
            mode=Mode.LIVE,
            priority=priority,
            channel=channel,
            waiting=waiting,
            sampled_at=clock.now().replace(year=clock.now().year + 1),
        )
    queries = _queries()
    assert len(queries) == 6
    for name in ("worker-p2", "hpa worker-p2"):
        assert _wait_for(prometheus, queries[name], 12) == 12
    for name in ("worker-p3", "hpa worker-p3"):
        assert _wait_for(prometheus, queries[name], 10) == 10
    for word in ("P0", "P1"):
        instruments.DELIVERIES.labels("live", word, "push").inc()
        labels = f'mode="live",priority="{word}",channel="push"'
        _wait_for(prometheus, f"notifications_deliveries_total{{{labels}}}")
        assert _wait_for(prometheus, queries[f"worker-{word.lower()}"]) >= 0
    lag = 'max by (lane) (notifications_due{lane="p3.email"}) > 100000'
    assert _wait_for(prometheus, lag) == 200_000
