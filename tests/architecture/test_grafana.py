"""The dashboards and alert rules of docs/grafana, by the checkers of Prometheus and Grafana.

`promtool` checks and tests the rules and parses the expressions of the dashboards. Grafana's own
types (grafana-foundation-sdk) read the dashboards: a field that they do not know would be lost.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from django.test import Client
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard
from prometheus_client.parser import text_string_to_metric_families

from notifications.core.api.metrics import Metric
from notifications.core.rules import service_levels
from notifications.core.rules.alert_thresholds import AlertThresholds
from notifications.core.tasks.metrics import WorkerGauges
from notifications.core.telemetry.instruments import INSTRUMENTS

_FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "grafana"
_TESTS: Final = Path(__file__).with_name("alerts.test.yml")
_DASHBOARDS: Final = {path.stem: json.loads(path.read_text()) for path in _FOLDER.glob("*.json")}
_RULES: Final = [
    rule
    for group in yaml.safe_load((_FOLDER / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]
_SELECTOR: Final = re.compile(r"\b((?:notifications|process)[_:][a-z0-9_:]+|up\b)(?:{([^}]*)})?")
"""A series in an expression, with its label matchers."""
_SUFFIXES: Final = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}
"""Ends of the names of a metric's series, by type."""

_PROCESSES: Final = frozenset({"web", "live", "beat"})
"""Services with metrics besides the workers."""

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is a part of the package prometheus"
)


def _promtool(*arguments: str) -> str:
    done = subprocess.run(
        ["/usr/bin/env", "promtool", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _expressions() -> Iterator[tuple[str, str]]:
    """Yield the title of each panel or rule and its expression."""
    for name, dashboard in _DASHBOARDS.items():
        for panel in dashboard["panels"]:
            for target in panel["targets"]:
                yield f"{name}: {panel['title']}", target["expr"]
    for rule in _RULES:
        yield rule.get("alert") or rule["record"], rule["expr"]


def _without_variables(expression: str) -> str:
    return re.sub(r"\$\w+", "x", expression.replace("$__rate_interval", "5m"))


@needs_promtool
def test_prometheus_takes_the_rules_and_the_configuration(tmp_path: Path) -> None:
    assert f"{len(_RULES)} rules found" in _promtool("check", "rules", str(_FOLDER / "alerts.yml"))
    _promtool("check", "config", str(_FOLDER / "prometheus.yml"))
    # promtool of Debian has no discovery by Kubernetes: everything else is checked.
    config = yaml.safe_load((_FOLDER / "prometheus-kubernetes.yml").read_text())
    for job in config["scrape_configs"]:
        [pods] = job.pop("kubernetes_sd_configs")
        assert pods == {"role": "pod", "namespaces": {"names": ["notify"]}}
    config["rule_files"] = [str(_FOLDER / "alerts.yml")]
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    _promtool("check", "config", str(tmp_path / "prometheus.yml"))


def test_each_process_with_metrics_has_a_scrape_job() -> None:
    composed = yaml.safe_load((_FOLDER.parents[1] / "docker-compose.yml").read_text())["services"]
    ours = {name for name in composed if name.startswith("worker-") or name in _PROCESSES}
    jobs = yaml.safe_load((_FOLDER / "prometheus.yml").read_text())["scrape_configs"]
    found = [name for job in jobs for each in job["dns_sd_configs"] for name in each["names"]]
    assert sorted(found) == sorted(ours)
    kept = {
        rule["regex"]
        for job in yaml.safe_load((_FOLDER / "prometheus-kubernetes.yml").read_text())[
            "scrape_configs"
        ]
        for rule in job["relabel_configs"]
        if rule.get("action") == "keep"
    }
    assert kept == {"web", "live", "http", "metrics"}


@needs_promtool
def test_each_alert_is_silent_first_and_fires_then() -> None:
    tested = {each["name"] for each in yaml.safe_load(_TESTS.read_text())["tests"]}
    assert tested == {rule["alert"] for rule in _RULES if "alert" in rule}
    assert "SUCCESS" in _promtool("test", "rules", str(_TESTS))


_BUDGETS: Final = {
    "unsent": 1 - AlertThresholds().delivery_rate_low / 100,
    "late": service_levels.URGENT_CALLED.budget,
    "unaccepted": 0.0005,
    "repeated": 0.0001,
}
"""Error budget of each recorded ratio; the product has no service level for the last two."""
_RATES: Final = {f"{window.rate:g}" for window in service_levels.WINDOWS}
_LIMIT: Final = re.compile(r"notifications:(\w+):ratio_rate\w+(?:{[^}]*})? > ([\d.]+) \* ([\d.]+)")
_BURN_RATE: Final = re.compile(r"notifications:(\w+):ratio_rate\w+ / ([\d.]+)")


def test_rules_and_dashboards_have_the_error_budgets_of_the_service_levels() -> None:
    expressions = [expression for _, expression in _expressions()]
    limits = [each for expression in expressions for each in _LIMIT.findall(expression)]
    assert {name for name, _, _ in limits} == _BUDGETS.keys()
    assert {rate for _, rate, _ in limits} <= _RATES
    shown = [each for expression in expressions for each in _BURN_RATE.findall(expression)]
    assert {name for name, _ in shown} == _BUDGETS.keys()
    for name, budget in [*((name, budget) for name, _, budget in limits), *shown]:
        assert float(budget) == pytest.approx(_BUDGETS[name]), name
    for level, _ in service_levels.PUNCTUAL.values():
        assert level.budget == pytest.approx(_BUDGETS["late"])


def test_the_documents_have_the_targets_of_the_service_levels() -> None:
    page = (_FOLDER.parent / "alerts.md").read_text()
    for level in (service_levels.DELIVERED, service_levels.REACHED, service_levels.URGENT_CALLED):
        assert f"| {level.name} | {100 * level.target:g} % |" in page
    low = f"{AlertThresholds().delivery_rate_low:g} %"
    assert f"| `delivery_rate_low` | {low} |" in page
    # The lines of a comment and of a paragraph end anywhere.
    rules = " ".join((_FOLDER / "alerts.yml").read_text().replace("\n#", "").split())
    page = " ".join(page.split())
    assert f"{low} of the deliveries of a channel sent" in rules
    assert f"`delivery_rate_low`: {low} of the deliveries sent" in page
    for text in (rules, page):
        for name in ("unaccepted", "repeated"):
            assert f"{100 * (1 - _BUDGETS[name]):g} % of the" in text


@needs_promtool
def test_prometheus_parses_each_expression_of_the_dashboards(tmp_path: Path) -> None:
    rules = [
        {"record": f"expression:{number}", "expr": _without_variables(expression)}
        for number, (_, expression) in enumerate(_expressions())
    ]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "expressions", "rules": rules}]}))
    assert f"{len(rules)} rules found" in _promtool("check", "rules", str(file))


@pytest.mark.parametrize("name", _DASHBOARDS)
def test_grafana_reads_each_field_of_a_dashboard(name: str) -> None:
    assert _lost(_DASHBOARDS[name], _read_by_grafana(_DASHBOARDS[name])) == []


def test_a_field_that_grafana_does_not_know_is_found() -> None:
    panels = [{**_DASHBOARDS["overview"]["panels"][0], "titel": "misspelt"}]
    wrong = {**_DASHBOARDS["overview"], "panels": panels}
    assert _lost(wrong, _read_by_grafana(wrong)) == ["/panels/0/titel"]


def _read_by_grafana(dashboard: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    return json.loads(JSONEncoder().encode(Dashboard.from_json(dict(dashboard))))


def _lost(given: Any, back: Any, path: str = "") -> list[str]:  # noqa: ANN401 - JSON
    """Return the paths of the fields that are missing or different."""
    if isinstance(given, dict) and isinstance(back, dict):
        return [
            lost
            for key, value in given.items()
            for lost in _lost(value, back.get(key, ...), f"{path}/{key}")
        ]
    if isinstance(given, list) and isinstance(back, list) and len(given) == len(back):
        return [
            lost
            for index, (one, other) in enumerate(zip(given, back, strict=True))
            for lost in _lost(one, other, f"{path}/{index}")
        ]
    return [] if given == back else [path]


@pytest.mark.django_db
def test_each_series_and_label_of_an_expression_exists() -> None:
    known = _series()
    for title, expression in _expressions():
        found = _SELECTOR.findall(expression)
        assert found, title
        for name, matchers in found:
            assert name in known, (title, name)
            labels = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers))
            assert labels <= known[name] | {"job", "instance"}, (title, name)


def _series() -> Mapping[str, AbstractSet[str]]:
    """Return the labels of each series: of a live scrape, a worker's gauges and the records."""
    text = Client().get("/metrics").content.decode()
    scraped = {family.name: family.type for family in text_string_to_metric_families(text)}
    labels = {each.full_name: set(each.labels) for each in Metric}
    labels |= {
        family.name: set(each._labelnames) for each in INSTRUMENTS for family in each.describe()
    }
    series: dict[str, AbstractSet[str]] = {
        f"{name}{suffix}": labels.get(name, set()) | ({"le"} if suffix == "_bucket" else set())
        for name, kind in scraped.items()
        for suffix in _SUFFIXES.get(kind, ("",))
    }
    for gauge in WorkerGauges(1).collect():
        series[gauge.name] = set(gauge.samples[0].labels)
    series |= {
        rule["record"]: {"priority", "channel", "provider"} for rule in _RULES if "record" in rule
    }
    return {**series, "up": set()}


def test_ids_and_places_of_panels_do_not_collide() -> None:
    assert len({each["uid"] for each in _DASHBOARDS.values()}) == len(_DASHBOARDS)
    for dashboard in _DASHBOARDS.values():
        panels = dashboard["panels"]
        assert len({each["id"] for each in panels}) == len(panels)
        cells = [
            (x, y)
            for place in (each["gridPos"] for each in panels)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        ]
        assert len(set(cells)) == len(cells)
        assert max(x for x, _ in cells) < 24
