"""Requests with an in-app message: link, image, actions, data and expiry."""

from __future__ import annotations

import dataclasses
import re
from typing import Any
from uuid import UUID

import pytest

from notifications.core import conf
from notifications.core.intake.accept import AcceptedRequest, Refused
from notifications.core.models import Notification
from notifications.core.rules import request
from notifications.core.rules.problems import Kind, Problem
from tests.journey import Accept, Reach

CONTENT = {
    "title": "Invitation",
    "body": "Do you come?",
    "url": "/events/7",
    "image_url": "https://img.example/7.png",
    "actions": [{"id": "yes", "label": "Yes"}, {"id": "map", "label": "Map", "url": "/map"}],
}


def body(**content: object) -> dict[str, Any]:
    return {"user_id": "maria", "type": "LIKE", "content": {"body": "B", **content}}


def errors(answer: object) -> dict[str, str]:
    problem = answer.problem if isinstance(answer, Refused) else answer
    assert isinstance(problem, Problem), answer
    assert problem.kind is Kind.INVALID
    return {each.pointer: each.detail for each in problem.errors}


def test_html_with_a_link_that_runs_a_script_is_refused(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    html = '<a href="javascript:alert(1)">Open</a>'
    answer = take(template_id=None, content={"title": "Hi", "body": "Hi", "html": html})
    assert errors(answer) == {
        "/content/html": "a link or an image of the HTML begins with javascript:"
    }


def test_the_parts_of_an_in_app_message_are_stored(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    answer = take(
        template_id=None,
        content=CONTENT,
        inbox_expires_in_seconds=3600,
        inbox_data={"order": "ORD-1", "n": 1},
    )
    assert isinstance(answer, AcceptedRequest), answer
    stored = Notification.objects.get(id=UUID(answer.response["notification_id"]))
    assert stored.content is not None
    assert {
        **stored.content,
        "actions": [
            {name: value for name, value in each.items() if value}
            for each in stored.content["actions"]
        ],
    } == {**CONTENT, "html": ""}
    assert stored.inbox == {"expires_in": 3600, "data": {"order": "ORD-1", "n": 1}}


def test_a_request_without_them_is_as_releases_wrote_it_that_did_not_know_them(
    reach: Reach, take: Accept
) -> None:
    reach(email="maria@sandbox.example")
    answer = take(template_id=None, content={"body": "B"})
    assert isinstance(answer, AcceptedRequest), answer
    stored = Notification.objects.get(id=UUID(answer.response["notification_id"]))
    assert stored.content == {"title": "", "body": "B", "html": ""}
    assert stored.inbox is None
    parsed = request.parse(body())
    assert not isinstance(parsed, Problem)
    assert not re.search(rb"inbox|actions|url\W", request.canonical(parsed).reveal())
    with_url = request.parse(body(url="/x"))
    assert not isinstance(with_url, Problem)
    assert b'"url":"/x"' in request.canonical(with_url).reveal()


@pytest.mark.parametrize(
    ("content", "pointer", "said"),
    [
        ({"actions": [{"id": "a b", "label": "A"}]}, "/content/actions/0/id", "must be 1 to 64"),
        ({"actions": [{"id": "a", "label": " "}]}, "/content/actions/0/label", "not be empty"),
        (
            {"actions": [{"id": "a", "label": "A"}, {"id": "a", "label": "B"}]},
            "/content/actions/1/id",
            "must not repeat the id a",
        ),
        ({"actions": [{"id": str(n), "label": "A"} for n in range(4)]}, "/content/actions", "3"),
        ({"url": "/" + "x" * 2048}, "/content/url", "2048"),
        ({"link": "/"}, "/content/link", "unknown field"),
    ],
)
def test_a_wrong_part_has_its_pointer(content: dict[str, Any], pointer: str, said: str) -> None:
    found = errors(request.parse(body(**content)))
    assert list(found) == [pointer]
    assert said in found[pointer]


def test_a_link_that_no_inbox_opens_is_refused(
    reach: Reach, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(email="maria@sandbox.example")
    actions = [{"id": "a", "label": "A", "url": "data:text/html,x"}]
    bad = {"body": "B", "url": "javascript:alert(1)", "image_url": "myapp:x", "actions": actions}
    assert list(errors(take(template_id=None, content=bad))) == [
        "/content/url",
        "/content/actions/0/url",
        "/content/image_url",
    ]
    good = {"body": "B", "url": "myapp:orders/1"}
    assert list(errors(take(template_id=None, content=good))) == ["/content/url"]
    changed = dataclasses.replace(conf.current(), inbox_url_schemes=frozenset({"myapp"}))
    monkeypatch.setattr(conf, "current", lambda: changed)
    assert isinstance(take(template_id=None, content=good), AcceptedRequest)


def test_data_and_expiry_have_limits() -> None:
    for wrong in (
        {"inbox_data": {"x": "y" * 4096}},
        {"inbox_data": {"x": "\x00"}},
        {"inbox_expires_in_seconds": 0},
        {"inbox_expires_in_seconds": True},
        {"inbox_expires_in_seconds": 400 * 86_400},
    ):
        assert list(errors(request.parse({**body(), **wrong}))) == [f"/{next(iter(wrong))}"]
