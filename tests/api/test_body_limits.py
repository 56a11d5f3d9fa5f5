"""Bodies are refused by the head of their request: nothing of them is read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from notifications.core.api import body_limits
from notifications.core.api.body_limits import KIBIBYTE, MEBIBYTE, limit_of
from tests.api.conftest import Caller

MULTIPART = "multipart/form-data; boundary=x"
FORM = "application/x-www-form-urlencoded"
SAFE = frozenset({"get", "head", "options"})


class Untouched:
    """A body that nobody may read."""

    def read(self, *_size: int) -> bytes:
        pytest.fail("the body was read")

    readline = read


def _status(path: str, length: int, media_type: str, client: Client | None = None) -> int:
    asking = client or Client()
    asking.cookies["csrftoken"] = "a" * 32
    extra = {"CONTENT_TYPE": media_type, "CONTENT_LENGTH": str(length), "wsgi.input": Untouched()}
    return asking.generic("POST", path, **extra).status_code  # type: ignore[arg-type]  # a WSGI environ


@pytest.mark.parametrize(
    ("path", "length", "media_type", "status"),
    [
        ("/v1/receipts/sandbox", MEBIBYTE + 1, "application/json", 413),
        ("/v1/notifications/batch", 17 * MEBIBYTE, "application/json", 413),
        ("/v1/notifications", 10**30, "application/json", 413),
        ("/v1/notifications", 10, MULTIPART, 415),
        ("/v1/receipts/sandbox", 10, "Multipart/Form-Data", 415),
        ("/l/abc", 1, FORM, 413),
        ("/problems/invalid", 60 * MEBIBYTE, MULTIPART, 413),
        ("/healthz", 1, FORM, 413),
        ("/nothing/here", 1, FORM, 413),
        ("/unsubscribe/abc", 4 * KIBIBYTE + 1, FORM, 413),
        ("/admin/login/", 17 * KIBIBYTE, FORM, 413),
        ("/admin/notifications/suppression/upload/", 17 * KIBIBYTE, FORM, 413),
        ("/admin/notifications/suppression/upload/", 17 * KIBIBYTE, MULTIPART, 413),
    ],
)
@pytest.mark.usefixtures("db")
def test_a_body_that_its_path_does_not_take_is_not_read(
    path: str, length: int, media_type: str, status: int
) -> None:
    assert _status(path, length, media_type) == status


@pytest.mark.usefixtures("db")
def test_a_made_up_session_sends_no_file() -> None:
    stranger = Client()
    stranger.cookies["sessionid"] = "a" * 32
    path = "/admin/notifications/suppression/upload/"
    assert _status(path, 17 * KIBIBYTE, MULTIPART, stranger) == 413


@pytest.mark.usefixtures("db")
def test_an_operator_sends_a_file() -> None:
    operator = Client()
    operator.force_login(get_user_model().objects.create_superuser("admin"))
    form = {"field": "x" * 100_000}
    answer = operator.post("/admin/notifications/suppression/", form)
    assert answer.status_code not in {413, 415}


@pytest.mark.usefixtures("db")
@pytest.mark.parametrize(
    "path", ["/v1/notifications", "/v1/receipts/nobody", "/v1/receipts/sandbox", "/v1/templates"]
)
def test_whoever_is_refused_anyway_sends_no_body(path: str) -> None:
    assert _status(path, 1_000, "application/json") in {401, 404}


def test_a_chunked_body_is_refused_on_every_path(caller: Caller) -> None:
    for path in ("/v1/notifications", "/admin/login/", "/unsubscribe/abc"):
        assert caller.post(path, {}, Transfer_Encoding="chunked").status_code == 400


def _routes(resolver: URLResolver, begin: str = "/") -> Iterator[tuple[str, URLPattern]]:
    for each in resolver.url_patterns:
        here = begin + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _routes(each, here)
        else:
            yield here, each


def test_each_path_that_takes_a_body_has_a_limit() -> None:
    found = 0
    for route, pattern in _routes(get_resolver()):
        view = getattr(pattern.callback, "view_class", getattr(pattern.callback, "cls", None))
        methods = {name for name in getattr(view, "http_method_names", ()) if hasattr(view, name)}
        if methods - SAFE:
            found += 1
            assert limit_of(route).size > 0, route
    assert found > 20
    assert body_limits.limit_of("/l/").size == 0
