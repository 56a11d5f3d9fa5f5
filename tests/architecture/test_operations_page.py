"""The operations page names what the code has: reasons, alerts, metrics, log events, sweeps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import get_commands
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from notifications.core.api.metrics import Metric
from notifications.core.rules.alert_causes import COVERED, SameSubject
from notifications.core.rules.alerts import AlertKind
from notifications.core.tasks import metrics
from notifications.core.telemetry.instruments import INSTRUMENTS
from tests.architecture import log_events, operations_page


def test_the_tables_are_generated_from_the_code() -> None:
    page = operations_page.PAGE.read_text()
    hint = "run in `make shell`: python -m tests.architecture.operations_page"
    assert page == operations_page.text(page), hint


def test_every_log_event_has_a_meaning_and_no_meaning_is_left_over() -> None:
    assert log_events.collect().keys() == log_events.MEANINGS.keys()


def test_an_event_that_is_no_literal_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notifications").mkdir()
    (tmp_path / "notifications" / "x.py").write_text("_log.info(event, count=1)")
    with pytest.raises(ValueError, match=r"notifications/x\.py:1"):
        log_events.collect(tmp_path)


def test_the_runbook_has_an_entry_for_every_alert() -> None:
    page = operations_page.PAGE.read_text()
    runbook = page.partition("\n## Runbook\n")[2].partition("\n## ")[0]
    entries = re.split(r"^### ", runbook, flags=re.MULTILINE)[1:]
    assert [entry.splitlines()[0] for entry in entries] == [f"`{kind}`" for kind in AlertKind]
    for entry in entries:
        for part in ("Meaning", "Look", "Do", "Clears"):
            assert f"- **{part}:** " in entry, (entry.splitlines()[0], part)


def test_what_the_text_names_exists() -> None:
    from notifications.core.admin import menu  # noqa: PLC0415 - the admin of other apps goes first

    page = " ".join(operations_page.PAGE.read_text().split())
    titles = {item.title for item in menu.items()}
    assert set(re.findall(r"\*Admin: ([^*]+)\*", page)) <= titles
    assert set(re.findall(r"manage\.py (\w+)", page)) <= get_commands().keys()
    instruments = [family for each in INSTRUMENTS for family in each.describe()]
    families = {family.name for family in [*instruments, *(each.family() for each in Metric)]}
    families |= set(metrics.GAUGES)
    named = set(re.findall(r"\bnotifications_[a-z_]+", page))
    assert {name.removesuffix("_total") for name in named} <= families


@pytest.mark.django_db
def test_a_scrape_has_the_metrics_of_the_table(client: Client) -> None:
    text = client.get("/metrics").content.decode()
    scraped = {
        family.name: (family.type, family.documentation)
        for family in text_string_to_metric_families(text)
        if family.name.startswith("notifications_")
    }
    instruments = [family for each in INSTRUMENTS for family in each.describe()]
    assert scraped == {
        family.name: (family.type, family.documentation)
        for family in [*instruments, *(metric.family() for metric in Metric)]
    }


def test_the_alerts_page_names_every_rule_of_coverage() -> None:
    page = (log_events.ROOT / "docs" / "alerts.md").read_text()
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    written = {
        (kind, cause, cells[3].strip())
        for cells in rows
        if len(cells) == 5
        for kind in re.findall(r"`(\w+)`", cells[1])
        for cause in re.findall(r"`(\w+)`", cells[2])
    }
    words = {SameSubject.ANY: "installation"}
    assert written == {
        (str(rule.kind), str(rule.cause), words.get(rule.same, rule.same.value)) for rule in COVERED
    }
