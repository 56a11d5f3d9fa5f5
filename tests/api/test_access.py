"""Each operation lets in the keys that its line of the table names, and no other key."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from uuid import uuid4

import pytest
from django.apps import apps
from django.db.models import Model
from django.urls import URLPattern

from notifications.core.api.urls import urlpatterns
from notifications.core.models import ApiKey, BulkJob, Recipient, Switch
from notifications.core.rules import access
from notifications.core.rules.access import TABLE, AccessRule
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.rules.scopes import GRANTABLE, Scope
from notifications.core.store.postgres import api_keys
from tests.api import operations
from tests.api.conftest import EVERYTHING, Caller, MakeCaller

SCOPED = {rule: rule.needs for rule in TABLE if isinstance(rule.needs, Scope)}
WHOLES = {"analytics:read", "notifications:write", "recipients:write"}
"""Scopes of the operations that have a part with a scope of its own."""
NAMELESS = {
    "api.embed": {"GET"},
    "api.front_page": {"GET"},
    "api.links": {"GET"},
    "api.problems": {"GET"},
    "api.schema": {"GET"},
    "api.unsubscribe": {"GET", "POST"},
    "features.preference_page.api.page": {"GET", "POST"},
}
"""Modules of views that are functions, and the methods that these take."""
OF_NO_MODE = {
    *("AuditEntry", "Attempt", "Event", "OrderedDelivery", "Occurrence", "ShortLink"),
    *("SeriesVersion", "SeriesStepResult"),
    *("TokenRevocation", "WebhookAttempt", "WebhookMessage"),
}
"""Models whose rows belong to a notification, schedule or series that has a mode, or name the
key."""


def test_each_operation_of_the_router_has_a_line_and_each_line_an_operation() -> None:
    served = {operation for found in urlpatterns for operation in _operations(found)}
    lines = {" ".join(rule.operation.split()[:2]) for rule in TABLE}
    assert served == lines, "add a line to notifications/core/rules/access.py"
    assert len({rule.operation for rule in TABLE}) == len(TABLE)


def test_each_operation_that_writes_has_a_request_in_the_tests() -> None:
    writing = {rule.operation for rule in operations.WRITING}
    assert writing == set(operations.BODIES), "add a body to tests/api/operations.py"


@pytest.mark.parametrize("mode", list(Mode), ids=lambda mode: mode.label)
def test_every_cell_of_the_table(make_caller: MakeCaller, mode: Mode) -> None:
    """Ask with the needed scope alone, with its wildcard alone, and with all other scopes."""
    caller = _with(make_caller, mode, GRANTABLE)
    for rule, needed in SCOPED.items():
        is_part = rule.operation.count(" ") > 1
        enough = {needed, needed.wildcard} & set(GRANTABLE)
        for scopes in (*({scope} for scope in enough), set(GRANTABLE) - enough):
            ApiKey.objects.update(scopes=sorted(scopes | WHOLES if is_part else scopes))
            api_keys.forget()
            allowed = scopes <= enough and mode in rule.modes
            assert _is_let_in(caller, rule.operation) is allowed, (rule.operation, scopes)


@pytest.mark.parametrize("rule", operations.WRITING, ids=lambda rule: rule.operation)
def test_a_test_key_changes_nothing_that_live_mode_reads(
    make_caller: MakeCaller, rule: AccessRule
) -> None:
    operations.furnish(make_caller())
    caller = _with(make_caller, Mode.TEST, EVERYTHING)
    world = operations.furnish(caller)
    before = _live_rows()
    status = operations.call(caller, rule.operation, world)
    assert _live_rows() == before
    assert status == 403 if Mode.TEST not in rule.modes else 200 <= status < 300


@pytest.mark.parametrize("rule", operations.WRITING, ids=lambda rule: rule.operation)
def test_the_request_of_each_operation_succeeds_in_live_mode(
    make_caller: MakeCaller, rule: AccessRule
) -> None:
    caller = make_caller()
    assert 200 <= operations.call(caller, rule.operation, operations.furnish(caller)) < 300


@pytest.mark.parametrize("scope", ["templates:write", "templates:publish", "suppressions:*"])
def test_a_test_key_is_not_issued_with_a_scope_of_live_mode(caller: Caller, scope: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"a test key may not have {scope}")):
        api_keys.issue(caller.producer, mode=Mode.TEST, scopes=[scope])


def test_an_operation_without_a_line_is_refused(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "rule_of", lambda *_asked: None)
    assert caller.get("/v1/notifications").status_code == 403


def _operations(found: URLPattern) -> Iterator[str]:
    path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", f"/{found.pattern}")
    view = getattr(found.callback, "view_class", None)
    names = (
        NAMELESS[found.callback.__module__.removeprefix("notifications.").removeprefix("core.")]
        if view is None
        else {name.upper() for name in view.http_method_names if hasattr(view, name)}
    )
    return (f"{method} {path}" for method in sorted(names - {"HEAD", "OPTIONS"}))


def _with(make_caller: MakeCaller, mode: Mode, scopes: Collection[str]) -> Caller:
    """A caller whose key has scopes that `issue` would refuse."""
    caller = make_caller(scopes=("notifications:read",))
    caller.mode = mode
    ApiKey.objects.filter(pk=caller.key.pk).update(mode=mode, scopes=sorted(scopes))
    return caller


def _is_let_in(caller: Caller, operation: str) -> bool:
    method, path, *part = operation.split()
    with_uuids = re.sub(r"\{(?:notification|message|bulk_job)_id\}", str(uuid4()), path)
    named = re.sub(r"\{\w+\}", "1", with_uuids)
    if method == "GET":
        named += "".join(f"?{name}=*" for name in part)
    scopes = [name for name in part if name in set(TokenScope)]
    body = {"scopes": scopes} if scopes else {name: [] for name in part}
    own = operations.BODIES.get(operation)
    if part and isinstance(own, bytes):
        answer = caller.send(method, named, own, media_type="text/csv")
    else:
        answer = caller.send(method, named, body)
    assert answer.resolver_match.route
    assert answer.status_code < 500
    return answer.status_code != 403


def _live_rows() -> dict[str, list[dict[str, object]]]:
    """Every row that live mode reads, by table."""
    return {
        model.__name__: _rows(model)
        for model in apps.get_app_config("notifications").get_models()
        if model.__name__ not in OF_NO_MODE
    }


def _rows(model: type[Model]) -> list[dict[str, object]]:
    names = {field.name for field in model._meta.get_fields()}
    owner = next((path for path in ("mode", "recipient", "recipient_id") if path in names), "")
    of_live: dict[str, dict[str, object]] = {
        "mode": {"mode": Mode.LIVE},
        "recipient": {"recipient__mode": Mode.LIVE},
        "recipient_id": {"recipient_id__in": Recipient.objects.filter(mode=Mode.LIVE)},
    }
    found = model._default_manager.filter(**of_live.get(owner, {}))
    if model is Switch:  # the switch of a bulk job holds the deliveries of the job alone
        jobs = BulkJob.objects.filter(mode=Mode.TEST).values_list("pk", flat=True)
        found = found.exclude(kind="bulk_job", value__in=[str(pk) for pk in jobs])
    return sorted(found.values(), key=str)
