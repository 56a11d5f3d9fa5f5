"""Additions to the operations of the OpenAPI document: scopes, problems, headers, examples.

Scopes come from `rules.access`, examples from the declarations; problems and headers follow from
the parameters and the body of an operation. The views do not repeat these facts.
"""

from __future__ import annotations

import functools
import json
import operator
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from importlib import import_module
from itertools import groupby
from typing import Any, Final
from urllib.parse import urlencode

from drf_spectacular.generators import SchemaGenerator

from notifications.core import conf, feature
from notifications.core.api import operation as declarations
from notifications.core.api import problems
from notifications.core.api.examples import Example, Examples
from notifications.core.rules.access import TABLE, AccessRule, Entry
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import Kind
from notifications.core.rules.scopes import Scope

Operation = dict[str, Any]

TAGS: Final[Mapping[str, str]] = {
    "Analytics": "Figures by minute, hour and day.",
    "Keys": "Properties, permissions and rotation of the caller's key.",
    "Notifications": "Create, read, reschedule and cancel notifications.",
    "Operations": "Dead letters, replays, switches, alerts and search, for operators.",
    "Preferences": "The channels and topics that a recipient gets, quiet hours and caps.",
    "Push": "Web push in browsers.",
    "Receipts": "Callbacks for providers, signed by the provider instead of a key.",
    "Recipients": "Recipients, contacts, erasure and suppressed addresses.",
    "Templates": "Draft, preview and publish templates.",
    "Webhooks": "Status changes as signed webhooks to the producer.",
}
PATH_PARAMETERS: Final[Mapping[str, str]] = {
    "alert_id": "The `id` of an alert.",
    "contact_id": "The `id` of one of the recipient's contacts.",
    "endpoint_id": "The `id` of a webhook endpoint.",
    "job_id": "The `id` of the job.",
    "letter_id": "The `id` of a dead letter.",
    "name": "The name of an attribute.",
    "notification_id": "The `notification_id` from the response to the create call.",
    "provider": "The provider's name, as in `docs/providers.md`.",
    "suppression_id": "The `id` of an entry of the suppression list.",
    "switch_id": "The `id` of a switch.",
    "template_id": "The template's name.",
    "user_id": "The recipient's id, chosen by the producers.",
    "version": "The number of a version; the first version is 1.",
}
_TEXT: Final = {"type": "string"}
_HEADERS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "Deprecation": ("Start of the deprecation (RFC 9745).", _TEXT),
    "ETag": ("Version of the object, for If-Match and If-None-Match.", _TEXT),
    "Idempotent-Replayed": (
        "Present if the response repeats the first response for the key.",
        {"type": "string", "const": "true"},
    ),
    "Link": ('`rel="next"`: the next page of a list; absent on the last page.', _TEXT),
    "Location": ("The path of the job started by the call.", _TEXT),
    "RateLimit": ("Writes left for the producer, and the seconds to a full burst.", _TEXT),
    "RateLimit-Policy": (
        "The producer's burst, and the seconds to fill an empty burst.",
        _TEXT,
    ),
    "Retry-After": (
        "Seconds to wait before repeating the call.",
        {"type": "integer", "minimum": 1},
    ),
    "Sunset": ("End of the operation (RFC 8594).", _TEXT),
    "WWW-Authenticate": (
        "`Bearer`, with `error` for an invalid key or missing scope (RFC 6750).",
        _TEXT,
    ),
    "X-Request-Id": (
        "The request's id in the logs: the trace id of `traceparent`, or a new id.",
        _TEXT,
    ),
}
_SECURITY: Final[Mapping[Scope | Entry, list[dict[str, list[str]]]]] = {
    Entry.SIGNED: [],
    Entry.RECIPIENT: [{"recipient_token": []}],
}
"""Security of the operations without a key."""
_CLIENT_TOKEN: Final = {
    "type": "http",
    "scheme": "bearer",
    "description": "A recipient token: see `POST /v1/recipients/{user_id}/client-tokens`.",
}
_COME_BACK: Final = frozenset({Kind.IN_PROGRESS, Kind.RATE_LIMITED, Kind.UNAVAILABLE})
_KEY_HEADER: Final = "Idempotency-Key"
_CONDITIONS: Final = frozenset({"If-Match", "If-None-Match"})
_PROBLEM: Final = {"$ref": "#/components/schemas/ProblemDetails"}


def describe(
    result: dict[str, Any], *, generator: SchemaGenerator | None = None, **_context: object
) -> dict[str, Any]:
    """Complete the document; a post-processing hook of drf-spectacular.

    The generator builds the components before it reads the webhooks, whose schemas would be absent.
    """
    if generator is not None:
        result["components"] = generator.registry.build({})
    components = result["components"]
    used: dict[str, Any] = {}
    components["responses"] = used
    result["servers"] = [{"url": conf.current().public_url, "description": "This installation."}]
    result["tags"] = [
        {"name": name, "description": said} for name, said in sorted(_facts("TAGS", TAGS).items())
    ]
    examples = of_all_operations()
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            _add_access(operation, f"{method.upper()} {path}")
            _add_answers(operation, method, path, used)
            _add_examples(operation, method, path, examples[operation["operationId"]])
    for operations in result.get("webhooks", {}).values():
        for operation in operations.values():
            operation["security"] = []  # the signature is in the headers of Standard Webhooks
    components["headers"] = _headers_in_use(result)
    components.setdefault("securitySchemes", {})["recipient_token"] = _CLIENT_TOKEN
    return result


def of_all_operations() -> Examples:
    """Return operationId -> name of the example -> example. The first example is minimal."""
    return {name: each.examples for name, each in declarations.operations_by_name().items()}


def _facts(name: str, of_core: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the facts of the core with those of the features."""
    modules = [import_module(each.openapi) for each in feature.all_features() if each.openapi]
    facts = [getattr(each, name, {}) for each in modules]
    return functools.reduce(operator.or_, facts, dict(of_core))


def _headers_in_use(result: dict[str, Any]) -> dict[str, Any]:
    written = str(result)
    return {
        name: {"description": said, "schema": dict(shape)}
        for name, (said, shape) in _HEADERS.items()
        if f"#/components/headers/{name}'" in written
    }


def _add_access(operation: Operation, name: str) -> None:
    """State the required scope, from the table in `rules.access`."""
    rules = [rule for rule in TABLE if rule.operation.partition(" /")[0] == name.partition(" ")[0]]
    rule = next(each for each in rules if each.operation == name)
    parts = [each for each in rules if each.operation.startswith(f"{name} ")]
    said = [operation["description"], _describe_access(rule)]
    said += [
        f"`{part.operation.split()[2]}` also requires the scope `{part.needs}`." for part in parts
    ]
    operation["description"] = "\n\n".join(filter(None, said))
    operation["security"] = _SECURITY.get(rule.needs, [{"key": []}])
    if rule.token_scope and isinstance(rule.needs, Scope):
        operation["security"] = [*operation["security"], {"recipient_token": []}]
    operation["x-scopes"] = [rule.needs.value] if isinstance(rule.needs, Scope) else []


def _describe_access(rule: AccessRule) -> str:
    if rule.needs is Entry.SIGNED:
        return "Requires the provider's signature and no key."
    if rule.needs is Entry.RECIPIENT:
        return f"Requires a recipient token with the scope `{rule.token_scope}` and no key."
    needs = f"the scope `{rule.needs}`" if isinstance(rule.needs, Scope) else "a key of any scope"
    live_only = "" if Mode.TEST in rule.modes else " and a live key"
    token = (
        f", or a token of the recipient with the scope `{rule.token_scope}`"
        if rule.token_scope
        else ""
    )
    return f"Requires {needs}{live_only}{token}."


def _add_answers(operation: Operation, method: str, path: str, used: dict[str, Any]) -> None:
    """Add all possible problems of an operation, and the headers of the other responses."""
    taken = {each["name"] for each in operation.get("parameters", [])}
    headers = _common_headers(operation)
    if _KEY_HEADER in taken:
        headers.append("Idempotent-Replayed")
    if _CONDITIONS & taken and method in {"get", "put", "patch"}:
        headers.append("ETag")
    if "cursor" in taken:
        headers.append("Link")
    for status, response in operation["responses"].items():
        extra = (
            ["Location"] if (operation["operationId"], status) == ("erase_recipient", "202") else []
        )
        response["headers"] = _references([*headers, *extra])
        response["description"] = response.get("description") or HTTPStatus(int(status)).phrase
    order = list(Kind).index
    kinds = sorted(set(_possible(operation, path)), key=lambda kind: (kind.status, order(kind)))
    for code, same in groupby(kinds, key=lambda kind: kind.status):
        group = list(same)
        name = "".join(_pascal(kind) for kind in group) + ("" if _has_key(operation) else "Open")
        used.setdefault(name, _problem(group, _common_headers(operation)))
        operation["responses"][str(int(code))] = {"$ref": f"#/components/responses/{name}"}


def _has_key(operation: Operation) -> bool:
    return {"key": []} in operation["security"]


def _common_headers(operation: Operation) -> list[str]:
    headers = ["X-Request-Id"]
    if _has_key(operation):
        headers += ["RateLimit", "RateLimit-Policy"]
    if operation.get("deprecated"):
        headers += ["Deprecation", "Sunset", "Link"]
    return headers


def _references(names: Sequence[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _pascal(kind: Kind) -> str:
    return "".join(word.title() for word in kind.value.split("-"))


def _problem(kinds: Sequence[Kind], common: Sequence[str]) -> dict[str, Any]:
    """Return the response of a status: the possible problems, with an example for every problem."""
    headers = list(common)
    if _COME_BACK.intersection(kinds):
        headers.append("Retry-After")
    if kinds[0].status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        headers.append("WWW-Authenticate")
    if kinds == [Kind.UNAUTHENTICATED]:
        headers = [name for name in headers if not name.startswith("RateLimit")]
    said = [f"`{kind.value}`: {problems.CURES[kind][1]}" for kind in kinds]
    shown = {
        kind.value: {"summary": problems.CURES[kind][0], "value": _problem_example(kind)}
        for kind in kinds
    }
    content = {problems.MEDIA_TYPE: {"schema": _PROBLEM, "examples": shown}}
    return {"description": "\n\n".join(said), "headers": _references(headers), "content": content}


def _problem_example(kind: Kind) -> dict[str, Any]:
    title, cure = problems.CURES[kind]
    return {
        "type": kind.uri,
        "code": kind.value,
        "title": title,
        "status": int(kind.status),
        "detail": cure,
        "instance": "4bf92f3577b34da6a3ce929d0e0e4736",
    }


def _possible(operation: Operation, path: str) -> Iterator[Kind]:
    """Yield the possible problems of an operation."""
    has_body, has_key = "requestBody" in operation, _has_key(operation)
    taken = operation.get("parameters", [])
    yield from (Kind.MALFORMED, Kind.NOT_ACCEPTABLE, Kind.UNAVAILABLE, Kind.UNAUTHENTICATED)
    yield Kind.RATE_LIMITED  # of the producer, or of an address without a valid key
    if "{" in path:
        yield Kind.NOT_FOUND
    if has_body:
        yield Kind.TOO_LARGE
    if operation["security"] and has_body:
        yield Kind.UNSUPPORTED_MEDIA_TYPE
    if operation["security"] and not has_key:
        yield Kind.INVALID
    if has_key:
        yield Kind.FORBIDDEN
        if has_body or any(each["in"] != "path" for each in taken):
            yield Kind.INVALID
        yield from _of_state(operation, {each["name"] for each in taken})


def _of_state(operation: Operation, taken: set[str]) -> Iterator[Kind]:
    """Yield the problems which depend on stored data."""
    name = operation["operationId"]
    if _KEY_HEADER in taken:
        yield from (Kind.KEY_REUSED, Kind.IN_PROGRESS)
    yield from declarations.operations_by_name()[name].problems
    if taken & _CONDITIONS and "412" not in operation["responses"]:
        yield Kind.PRECONDITION_FAILED


def _add_examples(
    operation: Operation, method: str, path: str, examples: Mapping[str, Example]
) -> None:
    """Add the operation's examples: bodies, path parameters and curl commands."""
    parameters = _facts("PATH_PARAMETERS", PATH_PARAMETERS)
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path":
            parameter.setdefault("description", parameters[parameter["name"]])
            shown = dict.fromkeys(each.path[parameter["name"]] for each in examples.values())
            parameter["examples"] = {str(value): {"value": value} for value in shown}
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        content["examples"] = {
            name: {"summary": each.summary, "value": each.body}
            for name, each in examples.items()
            if each.media_type == media_type
        }
    operation["x-codeSamples"] = [
        {"lang": "Shell", "label": each.summary, "source": _curl(each, method, path)}
        for each in examples.values()
    ]
    if "requestBody" not in operation:
        lines = [f"- {each.summary}: `{_line(each, method, path)}`" for each in examples.values()]
        operation["description"] += "\n\nExamples:\n\n" + "\n".join(lines)


def _line(example: Example, method: str, path: str) -> str:
    headers = [f"{name}: {value}" for name, value in example.headers.items()]
    return " · ".join([f"{method.upper()} {_target(example, path)}", *headers])


def _target(example: Example, path: str) -> str:
    query = urlencode(example.query, doseq=True)
    return path.format(**example.path) + (f"?{query}" if query else "")


def _curl(example: Example, method: str, path: str) -> str:
    """Return the call as a curl command."""
    parts = [f'curl -X {method.upper()} "{conf.current().public_url}{_target(example, path)}"']
    headers = dict(example.headers)
    if example.mode is not None:
        headers = {"Authorization": f"Bearer $NOTIFY_{example.mode.name}_KEY", **headers}
    if example.body is not None:
        headers["Content-Type"] = example.media_type
    parts += [f'-H "{name}: {_quote(value)}"' for name, value in headers.items()]
    if example.body is not None:
        raw = example.body if isinstance(example.body, str) else json.dumps(example.body)
        escaped = raw.replace("'", "'\\''")
        parts.append(f"--data-binary '{escaped}'")
    return " \\\n  ".join(parts)


def _quote(value: str) -> str:
    return value.replace('"', '\\"')
