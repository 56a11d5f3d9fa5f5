"""The OpenAPI document is held against the service: what it says is so, and nothing makes a 5xx.

Schemathesis makes requests from the document, well-formed and broken, and checks each answer's
status, content type, headers and shape against it. The number of examples bounds the time. The last
test prints how many operations, cases, failures and answers of 5xx there were.

All checks of schemathesis but three: `positive_data_acceptance`, because fields depend on each
other in ways that a schema does not say, and are refused with 422; `object_level_authorization`,
which `test_access` does from the table of scopes; `max_response_time`, because tests time nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode, checks
from schemathesis.config import SchemathesisConfig
from schemathesis.core.result import Ok

from notifications.core.api import schema
from notifications.core.models import Producer, Recipient
from notifications.core.rules.lane import Mode
from notifications.core.rules.templates import contents
from notifications.core.store.postgres import api_keys
from notifications.core.store.templates import versions
from providers.contract import Channel
from tests.api.conftest import EVERYTHING

if TYPE_CHECKING:
    from schemathesis import APIOperation, Case

EXAMPLES: Final = int(os.environ.get("SCHEMA_EXAMPLES", "12"))
"""Of each operation, well-formed and again broken. SCHEMA_EXAMPLES=100 draws more."""

NUMBERS: Final = ("operations", "cases", "failures", "answers of 5xx")
COUNTED: Final[Counter[str]] = Counter()

CHECKS: Final[list[Any]] = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.unsupported_method,
    checks.ignored_auth,
    checks.missing_required_header,
    checks.allow_header_conformance,
    checks.negative_data_rejection,
    checks.use_after_free,
    checks.ensure_resource_availability,
]

_REFUSALS: Final = "400 401 403 404 405 406 409 413 415 422 428 429"
"""Statuses for a broken request: schemathesis's own, and 413 for a body over 1 MiB."""
CONFIG: Final = SchemathesisConfig.from_dict({
    "checks": {"negative_data_rejection": {"expected-statuses": _REFUSALS.split()}}
})
DOCUMENT: Final = schemathesis.openapi.from_dict(schema.document(), config=CONFIG)
DOCUMENT.app = get_wsgi_application()
OPERATIONS: Final = [found.ok() for found in DOCUMENT.get_all_operations() if isinstance(found, Ok)]
TAKES_BROKEN_PARTS: Final = {
    "POST /v1/audience-uploads",
    "POST /v1/events",
    "POST /v1/notifications/batch",
}
"""A broken item or line of these is an error of its own, in an answer of 201 or 202."""
TAKES_ANYTHING: Final = {"POST /v1/receipts/{provider}"}
"""Nothing of it can be broken: any bytes are a body there, and the signature decides."""
ASKED: Final = [
    pytest.param(operation, mode, id=f"{operation.label} {mode.value}")
    for operation in OPERATIONS
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE or operation.label not in TAKES_ANYTHING
]


@pytest.fixture
def secret(maria: Recipient) -> Iterator[str]:
    """A key that may do everything, as often as it likes, where Maria exists."""
    producer, _ = Producer.objects.update_or_create(
        name="fuzz",
        defaults={"rate_per_second": 10**6, "rate_burst": 10**9, "may_send_content": True},
    )
    words = contents.words(Channel.PUSH, "en", title="Hi", body="Hello {{ name }}")
    draft = versions.draft("hello", contents.content([words]), by="fuzz")
    versions.publish(draft, by="fuzz")
    _, made = api_keys.issue(producer, mode=Mode(maria.mode), scopes=EVERYTHING)
    # The service answers inside the test's transaction, as for Django's own test client.
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield made
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.parametrize(("operation", "mode"), ASKED)
def test_every_answer_is_what_the_document_says(
    operation: APIOperation[Any, Any, Any, Any], mode: GenerationMode, secret: str
) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def hold(case: Case[Any]) -> None:
        _name_maria(case)
        COUNTED["cases"] += 1
        COUNTED["failures"] += 1
        answer = case.call(headers={"Authorization": f"Bearer {secret}"})
        COUNTED["answers of 5xx"] += answer.status_code >= 500
        case.validate_response(
            answer,
            checks=[each for each in CHECKS if each not in _left_out(operation.label)],
            headers={"Authorization": f"Bearer {secret}"},
        )
        COUNTED["failures"] -= 1

    COUNTED["operations"] += mode is GenerationMode.POSITIVE
    hold()


def _left_out(operation: str) -> list[Any]:
    return [checks.negative_data_rejection] if operation in TAKES_BROKEN_PARTS else []


def test_the_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """Print the numbers, behind all of the other tests."""
    with capsys.disabled():
        print("\nschemathesis:", ", ".join(f"{COUNTED[name]} {name}" for name in NUMBERS))  # noqa: T201 - a number that is asked for
    assert COUNTED["failures"] == COUNTED["answers of 5xx"] == 0


def _name_maria(case: Case[Any]) -> None:
    """Half of the requests are about somebody who exists, else all would end at one refusal."""
    path = case.path_parameters or {}
    if "user_id" in path and len(str(path["user_id"])) % 2:
        path["user_id"] = "maria"
    if "template_id" in path and len(str(path["template_id"])) % 2:
        path["template_id"] = "hello"
    body = case.body if isinstance(case.body, dict) else {}
    items = body.get("notifications", [body])
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict) and isinstance(item.get("user_id"), str) and len(item) % 2:
            item |= {"user_id": "maria", "type": "SALE", "priority": "P2"}
            item |= {"template_id": None, "content": {"body": "Hello"}}
