"""Each answer of a deprecated operation has the headers of the deprecation."""

from __future__ import annotations

import datetime as dt

import pytest
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory

from notifications.core.api.base_view import OpenView
from notifications.core.api.deprecation import add_deprecation
from notifications.core.api.problems import raise_problem
from notifications.core.rules.problems import Kind, Problem

SINCE = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
UNTIL = dt.datetime(2026, 9, 1, tzinfo=dt.UTC)


class _Old(OpenView):
    @add_deprecation(since=SINCE, until=UNTIL)
    def get(self, request: Request) -> Response:
        if "refuse" in request.query_params:
            raise_problem(Problem(Kind.CONFLICT, "no"))
        return Response({})


@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/?refuse=1", 409)])
@pytest.mark.django_db
def test_each_answer_says_when_the_operation_ends(path: str, status: int) -> None:
    answer = _Old.as_view()(APIRequestFactory().get(path))
    assert answer.status_code == status
    assert answer.headers["Deprecation"] == "@1767225600"
    assert answer.headers["Sunset"] == "Tue, 01 Sep 2026 00:00:00 GMT"
    assert 'rel="deprecation"' in answer.headers["Link"]


def test_an_operation_does_not_end_at_once() -> None:
    with pytest.raises(ValueError, match="183 days"):
        add_deprecation(since=SINCE, until=SINCE + dt.timedelta(days=30))
