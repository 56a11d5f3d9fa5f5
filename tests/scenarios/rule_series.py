"""The series that the alert rules and the autoscalers of docs read, against scraped samples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import yaml
from prometheus_client.parser import text_string_to_metric_families

from notifyproj.devstack.supervisor.process import ROOT

_DOCS: Final = ROOT / "docs"
_SELECTOR: Final = re.compile(r"\b(notifications_[a-z0-9_]+)(?:{([^}]*)})?")
"""A series of the product, not of a recording rule, with its label matchers."""
_MATCHER: Final = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
_FAILED: Final = "a request was answered with 5xx"
_REPEATED: Final = "a call was repeated after an unanswered call"
AFTER_AN_EVENT: Final[Mapping[str, str]] = {
    "NotificationsRepeats": _REPEATED,
    "NotificationsRepeatedFastBurn": _REPEATED,
    "NotificationsRepeatedSlowBurn": _REPEATED,
    "notifications:repeated:ratio_rate5m": _REPEATED,
    "notifications:repeated:ratio_rate30m": _REPEATED,
    "notifications:repeated:ratio_rate1h": _REPEATED,
    "notifications:repeated:ratio_rate6h": _REPEATED,
    "NotificationsRequestsFail": _FAILED,
    "NotificationsUnacceptedFastBurn": _FAILED,
    "NotificationsUnacceptedSlowBurn": _FAILED,
    "notifications:unaccepted:ratio_rate5m": _FAILED,
    "notifications:unaccepted:ratio_rate30m": _FAILED,
    "notifications:unaccepted:ratio_rate1h": _FAILED,
    "notifications:unaccepted:ratio_rate6h": _FAILED,
}
"""Rule -> the event before which a series of the rule does not exist: each is about a ratio over
minutes, which a first count without a rate does not hide."""


class Sample(NamedTuple):
    """A scraped sample."""

    name: str
    labels: Mapping[str, str]


def parse(text: str) -> Iterator[Sample]:
    """Yield the samples of a scrape."""
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            yield Sample(sample.name, sample.labels)


def missing(samples: Iterable[Sample]) -> dict[str, list[str]]:
    """Return the selectors without a sample, by rule or autoscaler; without `AFTER_AN_EVENT`."""
    by_name: dict[str, list[Mapping[str, str]]] = {}
    for sample in samples:
        by_name.setdefault(sample.name, []).append(sample.labels)
    found: dict[str, list[str]] = {}
    for title, expression in _expressions():
        for name, matchers in _SELECTOR.findall(expression):
            wanted = _MATCHER.findall(matchers)
            if not any(_matches(labels, wanted) for labels in by_name.get(name, [])):
                found.setdefault(title, []).append(f"{name}{{{matchers}}}")
    return {title: each for title, each in found.items() if title not in AFTER_AN_EVENT}


def _expressions() -> Iterator[tuple[str, str]]:
    """Yield name and expression of each alert rule, recording rule and autoscaler."""
    for group in yaml.safe_load((_DOCS / "grafana" / "alerts.yml").read_text())["groups"]:
        for rule in group["rules"]:
            yield rule.get("alert") or rule["record"], rule["expr"]
    for each in _documents("keda.yaml"):
        for trigger in each["spec"]["triggers"]:
            yield f"keda {each['metadata']['name']}", trigger["metadata"]["query"]
    for each in _documents("hpa.yaml"):
        for metric in each.get("spec", {}).get("metrics", ()):
            asked = metric["external"]["metric"]
            labels = asked["selector"]["matchLabels"]
            matchers = ",".join(f'{name}="{value}"' for name, value in labels.items())
            yield f"hpa {each['metadata']['name']}", f"{asked['name']}{{{matchers}}}"


def _documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((_DOCS / "kubernetes-autoscaling" / name).read_text()))


def _matches(labels: Mapping[str, str], wanted: Sequence[tuple[str, str, str]]) -> bool:
    for name, operator, value in wanted:
        given = labels.get(name, "")
        is_equal = (
            re.fullmatch(value, given) is not None if operator.endswith("~") else value == given
        )
        if is_equal is operator.startswith("!"):
            return False
    return True
