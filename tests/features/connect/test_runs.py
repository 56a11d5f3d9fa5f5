"""`connect` from an empty account to a connected one, and what it keeps here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from notifications.core import conf
from notifications.core.delivery import routing
from notifications.core.models import AuditEntry, ProviderConnection, ProviderPace, Suppression
from notifications.core.rules.connect_lines import ConnectLine, LineState
from notifications.core.rules.suppression import Cause
from notifications.core.store.cached import provider_overrides
from notifications.core.store.postgres import suppressions
from notifications.core.store.redis import metric_counters, state
from notifications.features.connect import runs
from notifications.features.connect.runs import NotConfigured
from tests.providers.aws.fakes import KEY_ID, REGION, SECRET
from tests.providers.connect.aws_stand_in import ACCOUNT_ID, AwsStandIn, Refused, number
from tests.providers.fakes import HttpFake

pytestmark = pytest.mark.django_db
GOOD, BAD, CHANGED, PENDING = LineState
_PLACE = f"arn:aws:sns:{REGION}:{ACCOUNT_ID}"


@pytest.fixture(autouse=True)
def _public_url(monkeypatch: pytest.MonkeyPatch) -> None:
    here = replace(conf.current(), public_url="https://notify.shop.example")
    monkeypatch.setattr(conf, "current", lambda: here)


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsStandIn]:
    """An account that both AWS vendors of the environment lead to."""
    with closing(AwsStandIn()) as stand_in:
        for name, own in (("SES", {"FROM": "no-reply@shop.example"}), ("AWS_EUM", {})):
            settings = {
                "REGION": REGION,
                "ENDPOINT": stand_in.url,
                "ACCESS_KEY_ID": KEY_ID,
                "SECRET_ACCESS_KEY": SECRET,
                "CONFIGURATION_SET": "notify",
                "TOPICS": f"{_PLACE}:notify-{name.lower().replace('_', '-')}",
                **own,
            }
            for field, value in settings.items():
                monkeypatch.setenv(f"NOTIFY_{name}_{field}", value)
        monkeypatch.setenv("AWS_ENDPOINT_URL_SNS", stand_in.url)
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", stand_in.url)
        routing.forget()
        provider_overrides.forget()
        yield stand_in
    routing.forget()
    provider_overrides.forget()


def run(name: str, *, is_dry: bool = False) -> list[ConnectLine]:
    return list(runs.run(name, by="tests", is_dry=is_dry))


def states(lines: list[ConnectLine]) -> dict[str, LineState]:
    return {each.subject: each.state for each in lines}


@pytest.mark.parametrize("name", ["ses", "aws_eum"])
def test_an_empty_account_is_connected_and_a_second_run_changes_nothing(
    aws: AwsStandIn, name: str
) -> None:
    aws.suppressed = [("gone@mailbox.example", "BOUNCE")]
    aws.opted_out = {"Default": ["+493012345001"]}
    first = states(run(name))
    parts = ("topic", "policy", "subscription", "configuration set", "event destination")
    assert {first[each] for each in (*parts, "suppressions")} == {CHANGED}
    before, entries = len(aws.writes), AuditEntry.objects.count()
    second = run(name)
    assert set(states(second).values()) == {GOOD}
    assert second[-1].detail == "nothing is to be changed at the vendor"
    assert len(aws.writes) == before
    assert AuditEntry.objects.count() == entries


@pytest.mark.parametrize("name", ["ses", "aws_eum"])
def test_a_dry_run_shows_the_changes_and_makes_none(aws: AwsStandIn, name: str) -> None:
    aws.suppressed = [("gone@mailbox.example", "BOUNCE")]
    aws.opted_out = {"Default": ["+493012345001"]}
    found = states(run(name, is_dry=True))
    assert list(found.values()).count(PENDING) >= 6
    assert aws.writes == []
    for table in (AuditEntry, ProviderConnection, ProviderPace, Suppression):
        assert not table.objects.exists()
    run(name)
    assert set(states(run(name, is_dry=True)).values()) == {GOOD}


def test_suppressed_addresses_enter_the_list_once_with_their_cause(aws: AwsStandIn) -> None:
    aws.suppressed = [(f"p{n}@mailbox.example", "BOUNCE") for n in range(4)]
    aws.suppressed.append(("Angry@mailbox.example", "COMPLAINT"))
    aws.suppressed.append(("no mailbox", "BOUNCE"))
    [said] = [each for each in run("ses") if each.subject == "suppressions"]
    assert said.detail == "5 of the vendor's 5 addresses are new"
    rows = Suppression.objects.order_by("address")
    assert [row.reason for row in rows] == [Cause.COMPLAINT, *[Cause.BOUNCE] * 4]
    assert {(row.provider, row.created_by) for row in rows} == {("ses", "tests")}
    aws.suppressed.append(("new@mailbox.example", "BOUNCE"))
    [again] = [each for each in run("ses") if each.subject == "suppressions"]
    assert again.detail == "1 of the vendor's 6 addresses are new"
    [last] = [each for each in run("ses") if each.subject == "suppressions"]
    assert (last.state, Suppression.objects.count()) == (GOOD, 6)


def test_an_import_that_ends_halfway_is_in_the_audit_log(
    aws: AwsStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("ses")
    aws.suppressed = [(f"p{n}@mailbox.example", "BOUNCE") for n in range(4)]
    pages = iter([AwsStandIn._ses_list_suppressed_destinations])

    def throttled(given: Mapping[str, Any]) -> Mapping[str, Any]:
        page = next(pages, None)
        if page is None:
            raise Refused("AccessDeniedException", "Not any more.", status=403)
        return page(aws, given)

    monkeypatch.setattr(aws, "_ses_list_suppressed_destinations", throttled)
    last = run("ses")[-1]
    assert (last.subject, last.state) == ("suppression list", BAD)
    assert Suppression.objects.count() == 2
    entry = AuditEntry.objects.latest("pk")
    assert entry.after["subject"] == "suppressions"


def test_an_old_opt_out_ends_with_start_and_is_not_counted_as_new(
    aws: AwsStandIn, django_capture_on_commit_callbacks: object
) -> None:
    with state.connection() as redis:
        redis.delete("tally:opt_outs")
    aws.opted_out = {"Default": ["+493012345001"]}
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator] # pytest-django's fixture
        run("aws_eum")
    assert Suppression.objects.get().reason == Cause.STOP_KEYWORD
    assert metric_counters.opt_outs() == {}


def test_the_granted_rate_becomes_our_pace(aws: AwsStandIn) -> None:
    assert states(run("aws_eum"))["rate"] is CHANGED
    pace = provider_overrides.current().paces["aws_eum"]
    assert (pace.burst, pace.per_second) == (30, 3.0)
    aws.numbers = [number(MessagingLimits={"RateLimits": {"SMS": 100}})]
    assert states(run("aws_eum"))["rate"] is CHANGED
    assert ProviderPace.objects.get().per_second == 100
    assert AuditEntry.objects.filter(object_type="providerpace").count() == 2


def test_the_rate_of_ses_is_in_force_without_a_row(aws: AwsStandIn) -> None:
    aws.quota["MaxSendRate"] = 90.0
    [rate] = [each for each in run("ses") if each.subject == "rate"]
    assert (rate.state, rate.detail) == (GOOD, "90 a second, which is in force")
    assert not ProviderPace.objects.exists()


def test_a_rate_of_a_run_that_dies_is_no_operators_rate(aws: AwsStandIn) -> None:
    for line in runs.run("aws_eum", by="tests", is_dry=False):
        if line.subject == "rate":
            break  # the process ends here
    assert ProviderPace.objects.get().per_second == 3
    aws.numbers = [number(MessagingLimits={"RateLimits": {"SMS": 100}})]
    assert states(run("aws_eum"))["rate"] is CHANGED
    assert ProviderPace.objects.get().per_second == 100


@pytest.mark.parametrize(("limit", "expected"), [(2.0, GOOD), (50.0, BAD)])
def test_an_operators_rate_stays(aws: AwsStandIn, limit: float, expected: LineState) -> None:
    assert aws.writes == []
    ProviderPace.objects.create(provider="aws_eum", burst=1, per_second=limit)
    assert states(run("aws_eum"))["rate"] is expected
    assert ProviderPace.objects.get().per_second == limit


def test_wrong_credentials_are_the_only_line(aws: AwsStandIn) -> None:
    aws.refuse_all = Refused("UnrecognizedClientException", "Invalid.", status=403)
    for name in ("ses", "aws_eum"):
        [line] = run(name)
        assert (line.subject, line.state) == ("credentials", BAD)
        assert "UnrecognizedClientException" in line.detail


def test_a_refused_change_ends_the_run_with_a_line(aws: AwsStandIn) -> None:
    aws.refused_operations = {"create_topic": Refused("AuthorizationError", "Not yours.")}
    last = run("ses")[-1]
    assert last == ConnectLine(subject="topic", state=BAD, detail="AuthorizationError: Not yours.")
    assert ProviderConnection.objects.get().findings[-1]["state"] == "BAD"


def test_a_change_that_has_no_effect_is_bad(aws: AwsStandIn) -> None:
    aws.forgotten_operations = {"create_configuration_set_event_destination"}
    last = run("ses")[-1]
    assert (last.subject, last.state) == ("event destination", BAD)
    assert last.detail.startswith("still missing after the change: create the event destination")


def test_without_https_nothing_is_changed_at_the_vendor(
    aws: AwsStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = replace(conf.current(), public_url="http://127.0.0.1:8000")
    monkeypatch.setattr(conf, "current", lambda: plain)
    last = run("ses")[-1]
    assert (last.state, last.detail.startswith("NOTIFY_PUBLIC_URL is no https URL")) == (BAD, True)
    assert aws.writes == []


def test_the_run_is_stored_without_addresses_and_secrets(aws: AwsStandIn) -> None:
    aws.suppressed = [("gone@mailbox.example", "BOUNCE")]
    lines = run("ses")
    stored = ProviderConnection.objects.get()
    assert (stored.provider, stored.run_by, len(stored.findings)) == ("ses", "tests", len(lines))
    kept = f"{stored.findings} {lines} {list(AuditEntry.objects.values())}"
    for secret in (SECRET, KEY_ID, "gone@", "no-reply@"):
        assert secret not in kept
    run("ses")
    assert ProviderConnection.objects.count() == 1


def test_each_change_is_in_the_audit_log(aws: AwsStandIn) -> None:
    run("ses")
    entries = AuditEntry.objects.filter(operation="connect_provider", object_name="ses")
    assert [each.after["subject"] for each in entries.order_by("pk")] == [
        *("topic", "policy", "subscription", "configuration set", "event destination"),
    ]
    assert aws.calls


def test_an_undone_entry_returns_while_the_vendor_lists_the_address(aws: AwsStandIn) -> None:
    aws.suppressed = [("gone@mailbox.example", "BOUNCE")]
    run("ses")
    suppressions.undo(Suppression.objects.all(), by="tests", note="")
    assert states(run("ses", is_dry=True))["suppressions"] is PENDING
    assert states(run("ses"))["suppressions"] is CHANGED


def test_a_provider_without_a_control_plane_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(HttpFake(key_header="")) as sandbox:
        monkeypatch.setenv("NOTIFY_SANDBOX_URL", sandbox.url.removesuffix("/hook"))
        routing.forget()
        [line] = run("sandbox")
    routing.forget()
    assert (line.subject, line.state) == ("reachability", GOOD)


def test_a_provider_that_is_not_configured_is_refused() -> None:
    with pytest.raises(NotConfigured, match="vonage is not configured"):
        run("vonage")


def test_the_command_runs_as_a_user_without_a_name(
    aws: AwsStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Platforms run containers with any user id."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 2_000_000_001)
    call_command("connect", "ses")
    assert aws.writes
    assert ProviderConnection.objects.get().run_by == "connect (user id 2000000001)"


def test_the_command_prints_a_line_each_and_fails_while_something_is_missing(
    aws: AwsStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandError, match=r"^Missing: 5\.$"):
        call_command("connect", "ses", "--dry-run")
    assert (
        "ses  subscription       would change  subscribe https://notify" in capsys.readouterr().out
    )
    call_command("connect", "ses")
    assert "ses is connected." in capsys.readouterr().out
    del aws.topics[f"{_PLACE}:notify-ses"]
    with pytest.raises(CommandError, match=r"^Missing: 3\.$"):
        call_command("connect", "ses", "--dry-run")
    with pytest.raises(CommandError, match="twilio is not configured: see docs/providers"):
        call_command("connect", "twilio")
