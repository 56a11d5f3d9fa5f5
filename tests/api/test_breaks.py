"""The guard against breaking changes sees each kind of break, and no change that breaks nobody."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from notifications.core.api import schema
from tests.api.breaks import breaks

Document = dict[str, Any]
ONE = "/v1/notifications/{notification_id}"


def _shape(document: Document, name: str) -> Any:  # noqa: ANN401 - a JSON schema
    return document["components"]["schemas"][name]


def _remove_path(document: Document) -> None:
    del document["paths"]["/v1/me"]


def _remove_operation(document: Document) -> None:
    del document["paths"]["/v1/alerts"]["get"]


def _rename_operation(document: Document) -> None:
    document["paths"]["/v1/me"]["get"]["operationId"] = "who_am_i"


def _need_another_scope(document: Document) -> None:
    document["paths"]["/v1/alerts"]["get"]["x-scopes"] = ["alerts:read"]


def _remove_status(document: Document) -> None:
    del document["paths"][ONE]["get"]["responses"]["404"]


def _remove_header(document: Document) -> None:
    del document["paths"]["/v1/me"]["get"]["responses"]["200"]["headers"]["RateLimit"]


def _remove_parameter(document: Document) -> None:
    document["paths"]["/v1/alerts"]["get"]["parameters"].clear()


def _require_a_parameter(document: Document) -> None:
    for parameter in document["paths"]["/v1/alerts"]["get"]["parameters"]:
        parameter["required"] = True


def _narrow_a_parameter(document: Document) -> None:
    for parameter in document["paths"]["/v1/alerts"]["get"]["parameters"]:
        if parameter["name"] == "limit":
            parameter["schema"]["maximum"] = 10


def _require_a_body(document: Document) -> None:
    operation = document["paths"][f"{ONE}/cancel"]["post"]
    content = {"application/json": {"schema": {"type": "object"}}}
    operation["requestBody"] = {"required": True, "content": content}


def _remove_a_media_type(document: Document) -> None:
    del document["paths"]["/v1/suppressions"]["post"]["requestBody"]["content"]["text/csv"]


def _require_a_request_field(document: Document) -> None:
    _shape(document, "NotificationRequest")["required"].append("priority")


def _remove_a_request_field(document: Document) -> None:
    del _shape(document, "NotificationRequest")["properties"]["metadata"]


def _narrow_a_request_type(document: Document) -> None:
    _shape(document, "NotificationRequest")["properties"]["metadata"] = {"type": "string"}


def _shorten_a_request_field(document: Document) -> None:
    _shape(document, "NotificationRequest")["properties"]["type"]["maxLength"] = 10


def _remove_a_request_word(document: Document) -> None:
    found = _shape(document, "NotificationRequest")["properties"]["priority"]
    found["anyOf"][0]["enum"].remove("P3")


def _forbid_null_in_a_request(document: Document) -> None:
    found = _shape(document, "NotificationRequest")["properties"]["priority"]
    found["anyOf"].pop()


def _remove_an_answers_field(document: Document) -> None:
    del _shape(document, "MeAnswer")["properties"]["scopes"]


def _drop_the_promise_of_a_field(document: Document) -> None:
    _shape(document, "MeAnswer")["required"].remove("scopes")


def _change_an_answers_type(document: Document) -> None:
    _shape(document, "RateAnswer")["properties"]["burst"] = {"type": "string"}


def _let_an_answer_be_null(document: Document) -> None:
    _shape(document, "RateAnswer")["properties"]["burst"] = {"type": ["integer", "null"]}


def _remove_an_answers_word(document: Document) -> None:
    _shape(document, "MeAnswer")["properties"]["mode"]["enum"].pop()


def _add_an_answers_word(document: Document) -> None:
    _shape(document, "MeAnswer")["properties"]["mode"]["enum"].append("dry")


def _remove_a_problem(document: Document) -> None:
    _shape(document, "ProblemDetails")["properties"]["code"]["enum"].remove("invalid")


BREAKING = [
    (_remove_path, "/v1/me: removed"),
    (_remove_operation, "GET /v1/alerts: removed"),
    (_rename_operation, "operationId get_me is who_am_i now"),
    (_need_another_scope, "GET /v1/alerts: needs another scope"),
    (_remove_status, "status 404 removed"),
    (_remove_header, "header RateLimit removed"),
    (_remove_parameter, "parameter limit removed"),
    (_require_a_parameter, "parameter limit is required now"),
    (_narrow_a_parameter, "parameter limit: maximum 100 no longer taken"),
    (_require_a_body, "a body is required now"),
    (_remove_a_media_type, "text/csv removed"),
    (_require_a_request_field, "NotificationRequest.priority: required now"),
    (_remove_a_request_field, "NotificationRequest.metadata: removed"),
    (_narrow_a_request_type, "NotificationRequest.metadata: type object no longer taken"),
    (_shorten_a_request_field, "NotificationRequest.type: maxLength 64 no longer taken"),
    (_remove_a_request_word, "NotificationRequest.priority: 'P3' no longer taken"),
    (_forbid_null_in_a_request, "NotificationRequest.priority: type null no longer taken"),
    (_remove_an_answers_field, "MeAnswer.scopes: removed"),
    (_drop_the_promise_of_a_field, "MeAnswer.scopes: no longer always there"),
    (_change_an_answers_type, "RateAnswer.burst: type string not known before"),
    (_let_an_answer_be_null, "RateAnswer.burst: type null not known before"),
    (_remove_an_answers_word, "MeAnswer.mode: 'test' removed"),
    (_add_an_answers_word, "MeAnswer.mode: 'dry' not known before"),
    (_remove_a_problem, "ProblemDetails.code: 'invalid' removed"),
]


@pytest.mark.parametrize(("change", "said"), BREAKING)
def test_a_break_is_found(change: Callable[[Document], None], said: str) -> None:
    changed = copy.deepcopy(schema.document())
    change(changed)
    found = breaks(schema.document(), changed)
    assert any(said in line for line in found), found


def test_what_breaks_nobody_is_not_found() -> None:
    changed = copy.deepcopy(schema.document())
    changed["paths"]["/v1/new"] = changed["paths"]["/v1/me"]
    request = _shape(changed, "NotificationRequest")["properties"]
    request["later"] = {"type": "string"}
    request["type"]["maxLength"] = 100
    request["priority"]["anyOf"][0]["enum"].append("P4")
    answer = _shape(changed, "MeAnswer")
    answer["properties"]["colour"] = {"type": "string"}
    answer["required"].append("colour")
    _shape(changed, "ProblemDetails")["properties"]["code"]["enum"].append("new-problem")
    changed["paths"]["/v1/me"]["get"]["responses"]["418"] = {"description": "A teapot."}
    assert breaks(schema.document(), changed) == []
    assert breaks(schema.document(), schema.document()) == []
