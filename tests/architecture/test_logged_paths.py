"""The proxy's access log holds no user id, token or other secret of a path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from tests.clock import ROOT

_CONFIGURATION: Final = (ROOT / "docs" / "compose" / "proxy.conf.template").read_text()
_PARAMETER: Final = re.compile(r"<(?:(?P<kind>\w+):)?(?P<name>\w+)>")
_NUMBERS: Final = frozenset({"int", "uuid"})
"""Converters of ids that this service gives."""
_SHOWN: Final = frozenset(
    {"action_id", "name", "topic", "template_id", "series_name", "kind", "provider", "version"}
    | {
        "path",
        "object_id",
        "app_label",
        "content_type_id",
        "url",
        "id",
        "channel",
        "forced",
        "value",
        "slug",
    }
)
"""Texts of a path that name a thing and no person."""


def _rules() -> list[tuple[re.Pattern[str], str]]:
    [block] = re.findall(r"map \$uri \$logged_path \{(.*?)\n    \}", _CONFIGURATION, re.DOTALL)
    return [
        (re.compile(pattern), logged)
        for pattern, logged in re.findall(r"~(\S+) (\S+);", block)
        if "$" not in logged
    ]


def _logged(path: str) -> str:
    return next((to for pattern, to in _rules() if pattern.search(path)), path)


def _routes(resolver: URLResolver, prefix: str = "/") -> Iterator[str]:
    for each in resolver.url_patterns:
        route = prefix + str(each.pattern)
        if isinstance(each, URLPattern):
            yield route
        else:
            yield from _routes(each, route)


_PRIVATE: Final = [
    (route, found["name"])
    for route in sorted(set(_routes(get_resolver())))
    for found in _PARAMETER.finditer(route)
    if found["kind"] not in _NUMBERS and found["name"] not in _SHOWN
]


def test_there_are_paths_with_user_ids_and_tokens() -> None:
    assert {"user_id", "token"} <= {name for _, name in _PRIVATE}


@pytest.mark.parametrize(("route", "name"), _PRIVATE)
def test_no_private_part_of_a_path_is_logged(route: str, name: str) -> None:
    path = _PARAMETER.sub(lambda found: "canary" if found["name"] == name else "x1", route)
    assert "canary" not in _logged(path)


@pytest.mark.parametrize("path", ["/v1/inbox/u_1/stream", "/u/token", "/v1/recipients/u_1/nothing"])
def test_paths_beside_the_routes_are_not_logged_either(path: str) -> None:
    assert _logged(path).endswith("/-")


def test_a_path_without_a_person_is_logged_as_it_is() -> None:
    assert _logged("/v1/notifications/batch") == "/v1/notifications/batch"
