"""A file comes from a URL, and each wrong URL and server is answered with a sentence."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from threading import Event

import pytest

from notifications.core import conf
from notifications.core.webhooks import body
from notifications.features.attachments import fetch
from notifications.features.attachments.models import Attachment
from providers.sandbox_server.wire import ServerAnswer
from tests.api.conftest import Caller, _fresh_state, caller, make_caller
from tests.journey import outbox
from tests.providers.sending import http_server, raw_server

__all__ = ["_fresh_state", "caller", "make_caller", "outbox"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("outbox")]
PDF = b"%PDF-1.7\n" + bytes(range(256)) * 1_000  # above the usual limit of answers
Fetch = Callable[[str], tuple[int, str]]


@pytest.fixture
def private_is_allowed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Allow addresses of the host, at which the servers of the tests are."""
    monkeypatch.setenv("NOTIFY_WEBHOOK_ALLOW_PRIVATE", "yes")
    monkeypatch.setenv("NOTIFY_WEBHOOK_SECRETS", "whsec_dGVzdHMtc2lnbi10aGVpci13ZWJob29rcw==")
    body.policy.cache_clear()
    yield
    monkeypatch.undo()
    body.policy.cache_clear()


@pytest.fixture
def post(caller: Caller) -> Fetch:
    """Return a function that posts a URL; returns the status and the sentence."""

    def call(url: str) -> tuple[int, str]:
        answer = caller.send(
            "POST", "/v1/attachments", url.encode(), media_type="text/uri-list; charset=utf-8"
        )
        return answer.status_code, answer.json().get("detail", "")

    return call


def _answer(content: bytes = PDF, type_: str = "application/pdf") -> ServerAnswer:
    return ServerAnswer(status=200, body=content, content_type=type_)


@pytest.mark.usefixtures("private_is_allowed")
def test_a_file_is_fetched_and_stored_as_an_upload(caller: Caller, post: Fetch) -> None:
    with http_server(lambda _seen: _answer(type_="application/pdf; x=1")) as url:
        assert post(f"{url}invoice.pdf\r\n") == (201, "")
        assert post(url) == (200, "")
    [row] = Attachment.objects.all()
    assert (bytes(row.content), row.type) == (PDF, "application/pdf")
    upload = caller.send("POST", "/v1/attachments", PDF, media_type="application/pdf")
    assert (upload.status_code, upload.json()["id"]) == (200, str(row.pk))


@pytest.mark.usefixtures("private_is_allowed")
@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        (_answer(type_="text/html"), 422, "sends the type text/html"),
        (_answer(b"MZ"), 422, "begins with other bytes"),
        (_answer(b""), 422, "the file is empty"),
        (ServerAnswer(status=404), 422, "answers with the status 404"),
        (ServerAnswer(status=204), 422, "answers with the status 204"),
        (
            ServerAnswer(status=302, headers=(("Location", "http://169.254.169.254/"),)),
            422,
            "answers with a redirect (302)",
        ),
    ],
)
def test_a_wrong_answer_is_refused_with_a_sentence(
    post: Fetch, answer: ServerAnswer, status: int, said: str
) -> None:
    with http_server(lambda _seen: answer) as url:
        found = post(url)
    assert found[0] == status
    assert said in found[1]
    assert not Attachment.objects.exists()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://127.0.0.1/", "private address"),
        ("https://169.254.169.254/latest/meta-data/", "private address"),
        ("https://[::1]/", "private address"),
        ("https://localhost/", "private address"),
        ("http://shop.example/", "must start with https://"),
        ("https://shop.example:5432/", "port must be 443 or 8443"),
        ("https://user:password@shop.example/", "user name or password"),
        ("file:///etc/passwd", "must start with https://"),
        ("https://does-not-exist.invalid/", "has no address"),
        ("https://shop.example/a\nhttps://shop.example/b", "percent-encoded"),
        ("https://shöp.example/", "in ASCII"),
        (" ", "must start with https://"),
    ],
)
def test_a_wrong_url_is_refused_with_a_sentence(post: Fetch, url: str, said: str) -> None:
    status, detail = post(url)
    assert status == 422
    assert said in detail
    assert not Attachment.objects.exists()


@pytest.mark.usefixtures("private_is_allowed")
def test_a_file_above_the_limit_is_cut_off(post: Fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = replace(conf.current(), attachments_max_bytes=len(PDF) - 1)
    monkeypatch.setattr(conf, "current", lambda: changed)
    with http_server(lambda _seen: _answer()) as url:
        status, said = post(url)
    assert (status, f"more than {len(PDF) - 1} bytes" in said) == (413, True)


@pytest.mark.usefixtures("private_is_allowed")
@pytest.mark.parametrize("length", ["99999999999", "9" * 26])
def test_a_length_above_the_limit_is_refused_before_the_file_comes(
    post: Fetch, length: str
) -> None:
    ends = Event()

    def serve(client: socket.socket) -> None:
        client.recv(65536)
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n")
        client.sendall(f"Content-Length: {length}\r\n\r\n%PDF-1.7".encode())
        ends.wait(30)

    with raw_server(serve) as url:
        status, said = post(url)
        ends.set()
    assert (status, "more than" in said) == (413, True)
    assert not Attachment.objects.exists()


@pytest.mark.usefixtures("private_is_allowed")
@pytest.mark.parametrize(
    "sent_first", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n%PDF"]
)
def test_a_server_that_sends_too_slowly_is_left(
    post: Fetch, monkeypatch: pytest.MonkeyPatch, sent_first: bytes
) -> None:
    monkeypatch.setattr(fetch, "DEADLINE", timedelta(seconds=0.3))
    ends = Event()

    def serve(client: socket.socket) -> None:
        client.recv(65536)
        if sent_first:
            client.sendall(sent_first)
        while sent_first and not ends.wait(0.01):
            try:
                client.sendall(b" ")
            except OSError:
                return
        ends.wait(30)

    with raw_server(serve) as url:
        status, said = post(url)
        ends.set()
    assert (status, "took longer than 0.3 s" in said) == (422, True)


@pytest.mark.usefixtures("private_is_allowed")
def test_a_connection_that_breaks_gives_no_file(post: Fetch) -> None:
    def serve(client: socket.socket) -> None:
        client.recv(65536)
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n")
        client.sendall(b"Content-Length: 99\r\n\r\n%PDF-1.7")

    with raw_server(serve) as url:
        status, said = post(url)
    assert (status, "closed the connection before the end" in said) == (422, True)
    assert not Attachment.objects.exists()


@pytest.mark.usefixtures("private_is_allowed")
def test_more_fetches_than_a_process_makes_at_once_are_asked_to_come_again(
    post: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = fetch.Places(1)
    monkeypatch.setattr(fetch, "_places", places)
    with http_server(lambda _seen: _answer()) as url:
        assert places.take(0)
        status, said = post(url)
        assert (status, "ask again" in said) == (503, True)
        places.give_back(0)
        assert post(url)[0] == 201


def test_a_producer_leaves_places_to_others() -> None:
    places = fetch.Places(4)
    assert [places.take(1) for _ in range(4)] == [True, True, False, False]
    assert [places.take(2), places.take(2), places.take(3), places.take(4)] == [
        *(True, False, True, False),
    ]
    for each in (1, 1, 2, 3):
        places.give_back(each)
    assert [places.take(4), places.take(4), places.take(5)] == [True, True, True]
