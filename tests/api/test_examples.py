"""Each example of the document is sent to the service, and the answer is what the document says."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from pytest_django import DjangoDbBlocker
from schemathesis.core.result import Ok

from notifications.core import clock
from notifications.core.api import schema
from notifications.core.api.examples import CLIENT_TOKEN, TAG, Example
from notifications.core.api.operations import of_all_operations
from providers import standard_webhooks
from tests.api import furnished
from tests.api.conftest import Caller, MakeCaller, forget, new_caller
from tests.api.furnished import World

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from schemathesis.core.transport import Response

DOCUMENT: Final = schemathesis.openapi.from_dict(schema.document())
DOCUMENT.app = get_wsgi_application()
OPERATIONS: Final[Mapping[str, Any]] = {
    found.ok().definition.raw["operationId"]: found.ok()
    for found in DOCUMENT.get_all_operations()
    if isinstance(found, Ok)
}
TOLD: Final = frozenset({
    "deprecation",
    "etag",
    "idempotent-replayed",
    "link",
    "location",
    "ratelimit",
    "ratelimit-policy",
    "retry-after",
    "sunset",
    "www-authenticate",
    "x-request-id",
})
"""Headers that the document names wherever they are answered."""
EXAMPLES: Final = of_all_operations()
ALL: Final = [
    pytest.param(operation, example, id=f"{operation}-{name}")
    for operation, examples in EXAMPLES.items()
    for name, example in examples.items()
]


@contextmanager
def _inside_the_transaction() -> Iterator[None]:
    """Let the service answer inside an open transaction, as for Django's own test client."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture(scope="module")
def furnished_world(
    django_db_setup: None,  # noqa: ARG001 - the test database exists before the fixture
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[tuple[Caller, World]]:
    """The rows of the examples, made once in a transaction that encloses all tests of the file."""
    with django_db_blocker.unblock(), transaction.atomic():
        forget()
        caller = new_caller()
        yield caller, furnished.furnish(caller)
        transaction.set_rollback(True)


@pytest.fixture
def db(furnished_world: tuple[Caller, World]) -> Iterator[None]:  # noqa: ARG001 - its transaction is open
    """A savepoint for each test, in place of pytest-django's transaction."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def caller(furnished_world: tuple[Caller, World]) -> Caller:
    return furnished_world[0]


@pytest.fixture
def world(furnished_world: tuple[Caller, World]) -> World:
    return furnished_world[1]


def test_each_operation_has_a_minimal_example_and_another() -> None:
    assert set(EXAMPLES) == set(OPERATIONS)
    for operation, examples in EXAMPLES.items():
        assert next(iter(examples)) == "minimal", operation
        assert len(examples) >= 2, operation
        assert len({repr(each) for each in examples.values()}) == len(examples), operation


def test_each_media_type_of_a_request_has_an_example() -> None:
    for name, operation in OPERATIONS.items():
        for media_type, content in (
            operation.definition.raw.get("requestBody", {}).get("content", {}).items()
        ):
            assert content["examples"], f"{name} {media_type}"


@pytest.mark.parametrize(("operation", "example"), ALL)
def test_an_example_is_answered_as_the_document_says(
    operation: str, example: Example, caller: Caller, make_caller: MakeCaller, world: World
) -> None:
    who = None if example.mode is None else make_caller(mode=example.mode)
    answer = _sent(operation, example, _headers(operation, example, who or caller, world), world)
    assert answer.status_code == example.status, answer.text
    documented = OPERATIONS[operation].definition.raw["responses"][str(example.status)]
    names = {name.lower() for name in documented["headers"]}
    assert TOLD & set(answer.headers) <= names, answer.headers
    if who is not None:
        assert {"ratelimit", "ratelimit-policy"} <= set(answer.headers)


@pytest.mark.parametrize("operation", sorted(EXAMPLES))
def test_a_call_without_a_valid_key_is_refused_as_the_document_says(operation: str) -> None:
    example = EXAMPLES[operation]["minimal"]
    headers = {} if example.mode is None else {"Authorization": "Bearer nk_live_unknown"}
    answer = _sent(operation, example, headers, {})
    assert answer.status_code == 401
    assert "www-authenticate" in answer.headers


def _sent(operation: str, example: Example, headers: Mapping[str, str], world: World) -> Response:
    """Send an example; its answer has a status, a media type and a shape of the document."""
    found = OPERATIONS[operation]
    case = found.Case(
        path_parameters=_true(example.path, world),
        query=_true(example.query, world),
        headers=dict(headers),
        **_body(example, world),
    )
    with _inside_the_transaction():  # the validation sends further requests
        answer: Response = case.call(**_raw(example, world))
        case.validate_response(answer)
    return answer


def _headers(operation: str, example: Example, caller: Caller, world: World) -> dict[str, str]:
    """Those of an example, with the caller's key, the object's ETag and a true signature."""
    headers = {
        name: _tag(operation, example, caller, world) if value == TAG else value
        for name, value in example.headers.items()
    }
    if "Authorization" in headers:
        return headers | {"Authorization": f"Bearer {world[CLIENT_TOKEN]}"}
    if example.mode is None:
        secret = standard_webhooks.Secret.parse(os.environ["NOTIFY_SANDBOX_SECRET"])
        raw = _raw(example, world)["data"]
        signed = standard_webhooks.sign(raw, message_id="msg_1", at=clock.now(), secrets=[secret])
        assert {name.lower() for name in signed} == {name.lower() for name in headers}
        return {**signed, "Content-Type": example.media_type}
    return {**headers, "Authorization": f"Bearer {caller.secret}"}


def _tag(operation: str, example: Example, caller: Caller, world: World) -> str:
    path = OPERATIONS[operation].path.removesuffix("/publish").removesuffix("/rollback")
    answer = caller.get(path.format(**_true(example.path, world)))
    return str(answer.headers["ETag"])


def _body(example: Example, world: World) -> dict[str, Any]:
    if example.body is None:
        return {}
    return {"body": _true(example.body, world), "media_type": example.media_type}


def _raw(example: Example, world: World) -> dict[str, bytes]:
    """The bytes of a body that is no JSON, or that is signed."""
    if isinstance(example.body, str):
        return {"data": example.body.encode()}
    if example.mode is None and "Authorization" not in example.headers:
        return {"data": json.dumps(_true(example.body, world)).encode()}
    return {}


def _true(written: Any, world: World) -> Any:  # noqa: ANN401 - whatever JSON holds
    """What an example says, with the ids of the objects that were made for it."""
    if isinstance(written, dict):
        return {name: _true(value, world) for name, value in written.items()}
    if isinstance(written, list):
        return [_true(value, world) for value in written]
    is_id = isinstance(written, str | int) and not isinstance(written, bool)
    return world.get(written, written) if is_id else written
