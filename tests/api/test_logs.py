"""What the log says of requests that fail: the route and the trace id, never the path."""

from __future__ import annotations

import io
import json
import logging

import pytest
from django.db import OperationalError
from django.test import Client

from notifications.core.store.postgres import api_keys


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the product's own handler writes."""
    stream = io.StringIO()
    [ours] = [each for each in logging.getLogger().handlers if type(each) is logging.StreamHandler]
    monkeypatch.setattr(ours, "stream", stream)
    return stream


def _lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_post_to_a_short_link_leaves_no_token_in_the_log(written: io.StringIO) -> None:
    Client(enforce_csrf_checks=True).generic("POST", "/l/a-token-that-is-somebodys")
    assert "Forbidden" in written.getvalue()
    assert "l/<slug:token>" in written.getvalue()
    assert "somebodys" not in written.getvalue()


@pytest.mark.usefixtures("db")
def test_the_line_of_a_503_has_the_trace_id_of_its_answer(
    written: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(prefix: str) -> None:
        raise OperationalError(prefix)

    monkeypatch.setattr(api_keys, "_load", away)
    secret = f"nk_live_{'a' * 8}_{'b' * 52}"
    headers = {"Authorization": f"Bearer {secret}"}
    answer = Client().get("/v1/recipients/somebody", headers=headers)
    assert answer.status_code == 503
    [line] = [each for each in _lines(written) if each["logger"] == "django.request"]
    assert line["trace_id"] == answer.json()["instance"]
    assert "somebody" not in json.dumps(line)
