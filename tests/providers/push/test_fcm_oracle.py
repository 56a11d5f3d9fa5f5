"""Our request is, byte for byte, the one that firebase-admin would have sent."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import Any

import firebase_admin
import google.oauth2.credentials
import pytest
from firebase_admin import messaging
from hypothesis import given, settings
from hypothesis import strategies as st

from providers.contract import Accepted, Message
from providers.push import replacing
from providers.push.fcm import Config, Fcm
from providers.push.fcm_body import LONGEST_LIFE, RESERVED_KEYS, RESERVED_PREFIXES
from providers.sandbox_server.wire import Connection, ServerAnswer, ServerRequest
from providers.transport import Transport
from tests.providers.fakes import Listener
from tests.providers.messages import NOON, message, noon
from tests.providers.push.credentials import account

COMPARED = ("authorization", "content-type", "x-goog-api-format-version")
"""The others name the program that sends."""


class Pair:
    """Our adapter and firebase-admin, in front of one server."""

    def __init__(self) -> None:
        self.seen: list[ServerRequest] = []
        self._listener = Listener(lambda: Connection(self._serve))
        url = f"http://127.0.0.1:{self._listener.port}"
        self._transport = Transport()
        config = Config(credentials=account(url + "/token"), url=url)
        self._ours = Fcm(config, transport=self._transport, now=noon)
        credential = google.oauth2.credentials.Credentials("ya29.the-token")
        self._app = firebase_admin.initialize_app(credential, {"projectId": "shop"}, "oracle")
        service = messaging._get_messaging_service(self._app)
        service._fcm_url = service._fcm_url.replace("https://fcm.googleapis.com", url)

    def close(self) -> None:
        firebase_admin.delete_app(self._app)
        self._transport.close()
        self._listener.close()

    def ours(self, it: Message) -> ServerRequest:
        (result,) = self._ours.send([it], deadline=timedelta(seconds=30))
        assert result.outcome == Accepted(message_id="projects/shop/messages/1")
        return self.seen.pop()

    def theirs(self, it: messaging.Message) -> ServerRequest:
        messaging.send(it, app=self._app)
        return self.seen.pop()

    def _serve(self, request: ServerRequest) -> ServerAnswer:
        if request.path == "/token":
            body = b'{"access_token": "ya29.the-token", "expires_in": 100000000}'
            return ServerAnswer(status=200, body=body)
        self.seen.append(request)
        return ServerAnswer(status=200, body=b'{"name": "projects/shop/messages/1"}')


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with closing(Pair()) as it:
        yield it


def in_firebase_words(it: Message) -> messaging.Message:
    tag = it.collapse_key or str(it.notification_id)
    seconds = int(min(it.time_to_live, LONGEST_LIFE).total_seconds())
    target: dict[str, Any] = {"fid" if it.address_kind == "fcm_fid" else "token": it.address}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Message.token is deprecated", DeprecationWarning)
        return messaging.Message(
            data={
                **it.data,
                "notification_id": str(it.notification_id),
                "delivery_id": str(it.delivery_id),
            },
            notification=messaging.Notification(title=it.title or None, body=it.body or None),
            android=messaging.AndroidConfig(
                collapse_key=it.collapse_key or None,
                priority="high" if it.urgent else "normal",
                ttl=seconds,
                notification=messaging.AndroidNotification(tag=tag),
            ),
            apns=messaging.APNSConfig(
                headers={
                    "apns-collapse-id": replacing.collapse_id(it),
                    "apns-expiration": str(int(NOON.timestamp()) + seconds),
                    "apns-priority": "10" if it.urgent else "5",
                },
                payload=messaging.APNSPayload(aps=messaging.Aps(mutable_content=True)),
            ),
            webpush=messaging.WebpushConfig(
                headers={
                    "TTL": str(seconds),
                    "Topic": replacing.topic(it),
                    "Urgency": "high" if it.urgent else "normal",
                },
                notification=messaging.WebpushNotification(tag=tag),
            ),
            **target,
        )


texts = st.text(max_size=60)
free_keys = texts.filter(
    lambda key: key not in RESERVED_KEYS and not key.startswith(RESERVED_PREFIXES)
)
messages = st.builds(
    replace,
    st.builds(message, st.text(min_size=1, max_size=200)),
    title=texts,
    body=texts,
    collapse_key=texts,
    urgent=st.booleans(),
    address_kind=st.sampled_from(["fcm_token", "fcm_fid", ""]),
    time_to_live=st.timedeltas(min_value=timedelta(0), max_value=timedelta(weeks=10)),
    data=st.dictionaries(free_keys, texts, max_size=4),
)


@settings(max_examples=200, deadline=None)
@given(it=messages)
def test_our_request_is_the_one_that_firebase_admin_would_have_sent(
    pair: Pair, it: Message
) -> None:
    ours, theirs = pair.ours(it), pair.theirs(in_firebase_words(it))
    assert ours.body == theirs.body
    assert (ours.method, ours.target) == (theirs.method, theirs.target)
    for name in COMPARED:
        assert ours.headers[name] == theirs.headers[name]
