"""The OpenAPI document and its pages."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS

from notifications.core.api import operations, schema
from notifications.core.api.urls import urlpatterns


def test_the_document_is_made_without_a_warning() -> None:
    schema.document.cache_clear()
    with GENERATOR_STATS.silence():
        schema.document()
    assert not GENERATOR_STATS


def test_the_document_needs_no_key() -> None:
    answer = Client().get("/v1/schema")
    assert answer.status_code == 200
    assert answer.json()["openapi"] == "3.1.0"


def test_every_path_of_the_api_is_described() -> None:
    served = {re.sub(r"<\w+:(\w+)>", r"{\1}", f"/{found.pattern}") for found in urlpatterns}
    api = {path for path in served if path.startswith("/v1/")}
    assert set(schema.document()["paths"]) == api - {
        *("/v1/schema", "/v1/docs"),
        "/v1/inbox/{user_id}/stream",  # the live process answers with server-sent events
    }


def test_the_docs_load_nothing_from_anybody_else() -> None:
    page = Client().get("/v1/docs").content.decode()
    assert "swagger-ui-bundle.js" in page
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)


@pytest.mark.parametrize("sample", ["curl", "python", "typescript"])
def test_a_first_message_has_three_lines(sample: str) -> None:
    page = Client().get("/v1/docs").content.decode()
    [shown] = re.findall(rf'<pre id="{sample}">(.*?)</pre>', page, re.DOTALL)
    assert len(shown.splitlines()) == 3
    assert "http://testserver" in shown


def test_the_document_names_what_each_operation_needs() -> None:
    operation = schema.document()["paths"]["/v1/alerts"]["get"]
    assert operation["x-scopes"] == ["operations:read"]
    assert operation["security"] == [{"key": []}]
    assert "Requires the scope `operations:read` and a live key." in operation["description"]


def test_the_document_names_this_installation() -> None:
    [server] = schema.document()["servers"]
    assert server["url"] == "http://testserver"


def test_a_deprecated_operation_has_the_headers_that_say_so() -> None:
    operation = {
        "operationId": "get_me",
        "description": "",
        "deprecated": True,
        "responses": {"200": {"description": ""}},
    }
    document = {"components": {}, "paths": {"/v1/me": {"get": operation}}}
    headers = operations.describe(document)["paths"]["/v1/me"]["get"]["responses"]["200"]["headers"]
    assert {"Deprecation", "Sunset", "Link"} <= set(headers)
    assert {"Deprecation", "Sunset"} <= set(document["components"]["headers"])


def test_a_request_names_its_fields_as_producers_spell_them() -> None:
    shapes = schema.document()["components"]["schemas"]
    [request] = [shapes[name] for name in shapes if name.startswith("NotificationRequest")][:1]
    assert request["required"] == ["type"]
    assert request["anyOf"] == [{"required": ["user_id"]}, {"required": ["to"]}]
    assert {"P0", "P1", "P2", "P3"} == set(request["properties"]["priority"]["anyOf"][0]["enum"])


def test_each_reference_of_the_document_leads_somewhere() -> None:
    document = json.loads(Client().get("/v1/schema").content)
    references = set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(document)))
    assert references
    for reference in references:
        assert reference.startswith("#/components/"), reference
        _, _, kind, name = reference.split("/")
        assert name in document["components"][kind]


def test_no_shape_has_a_default_that_generated_clients_would_require() -> None:
    for name, shape in schema.document()["components"]["schemas"].items():
        for field, part in shape.get("properties", {}).items():
            assert "default" not in part, f"{name}.{field}"
    fields = schema.document()["components"]["schemas"]["NotificationRequest"]["properties"]
    assert fields["delivery"]["description"].endswith('Default: `"first"`.')


def test_the_document_is_the_same_each_time_it_is_made() -> None:
    made = []
    for _ in range(2):
        schema.document.cache_clear()
        with GENERATOR_STATS.silence():
            made.append(schema.document())
    assert made[0] == made[1]
