"""The outcome of a described gateway shows no number, text or secret of the request."""

from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import urlencode

import orjson
import pytest

from providers.contract import Rejected, Unanswered
from providers.sandbox_server.wire import ServerAnswer
from tests.providers.answering import AnsweringFake
from tests.providers.sms.gateways.test_gateway import (
    ANSWER,
    OF_MESSAGES,
    SECRET,
    Adapters,
    own_address,
    running,
    server,
    shared,
    sms,
    world,
)
from tests.providers.trying import outcomes

__all__ = ["running", "server", "shared", "world"]

_TEXT = 'Ihr Code "1234" für https://shop.example/ä'
_ECHO = {"text": _TEXT, "to": "+491511234567", "token": "token/b", "url": own_address()}
_SAID = [
    orjson.dumps(_ECHO),
    json.dumps(_ECHO).encode(),
    json.dumps(_ECHO).replace("/", "\\/").encode(),
    urlencode(_ECHO).encode(),
    f"refused: {_ECHO}".encode(),
]


@pytest.mark.parametrize("said", _SAID)
@pytest.mark.parametrize("status", [200, 400])
def test_an_answer_that_repeats_the_request_shows_none_of_it(
    world: Adapters, server: AnsweringFake, said: bytes, status: int
) -> None:
    server.answer = ServerAnswer(status=status, body=said)
    provider = world.adapter(OF_MESSAGES + ANSWER, TOKEN="token/b")
    (outcome,) = outcomes(provider, sms(_TEXT))
    assert isinstance(outcome, Unanswered | Rejected)
    assert "[address]" in outcome.detail
    hidden = "1234", "shop.example", "491511234567", own_address().partition("token=")[2], SECRET
    assert not [each for each in hidden if each in repr(outcome)]


def test_a_sentence_that_is_a_code_hides_the_number_and_keeps_the_rest(world: Adapters) -> None:
    body = orjson.dumps({"error": "no route to 491511234567"})
    given = replace(ServerAnswer(status=400), body=body)
    outcome = world.outcome(OF_MESSAGES + ANSWER, given)
    assert isinstance(outcome, Rejected)
    assert outcome.code == "no route to [address]"
