"""A sensitive value appears only where it is revealed."""

from __future__ import annotations

import copy
import json
import logging
import pickle
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import orjson
import pytest
from pydantic import BaseModel, ValidationError

from notifications.core.rules import request
from notifications.core.rules.problems import Problem
from notifications.core.rules.sensitive import MASK, Sensitive

CANARY = "canary-864209"


@dataclass
class _Holder:
    held: Sensitive[str]


class _Model(BaseModel):
    held: Sensitive[str]


def _logged(value: object) -> str:
    record = logging.LogRecord("x", logging.INFO, "x.py", 1, "%s %r", (value, value), None)
    return record.getMessage()


SHOWN: list[Callable[[Sensitive[str]], object]] = [
    str,
    repr,
    format,
    lambda value: f"{value} {value!r} {value!s:>20}",
    lambda value: "%s %r" % (value, value),  # noqa: UP031 - how a library formats
    "{0} {0!r} {0:>20}".format,
    _logged,
    lambda value: repr([value, {"key": value}, _Holder(value)]),
    lambda value: repr(Exception(value)),
    lambda value: json.dumps(value, default=str),
    lambda value: orjson.dumps(value, default=str).decode(),
    lambda value: _Model.model_construct(held=value).model_dump_json(),
    lambda value: repr(_Model.model_construct(held=value).model_dump()),
    lambda value: repr(getattr(value, "__dict__", "")),
]
REFUSED: list[Callable[[Any], object]] = [
    lambda value: value == CANARY,
    lambda value: value != CANARY,
    [CANARY].index,
    lambda value: value < CANARY,
    lambda value: {value},
    hash,
    bool,
    len,
    list,
    bytes,
    json.dumps,
    orjson.dumps,
    pickle.dumps,
    copy.copy,
    copy.deepcopy,
    lambda value: asdict(_Holder(value)),
    lambda value: "x" + value,
    ",".join,
]


@pytest.mark.parametrize("use", SHOWN)
def test_its_text_is_a_mask(use: Callable[[Sensitive[str]], object]) -> None:
    assert CANARY not in str(use(Sensitive(CANARY)))


@pytest.mark.parametrize("use", REFUSED)
def test_what_could_disclose_it_is_refused(use: Callable[[Sensitive[str]], object]) -> None:
    with pytest.raises(TypeError) as refused:
        use(Sensitive(CANARY))
    assert CANARY not in str(refused.value)


def test_reveal_returns_the_value() -> None:
    assert Sensitive(CANARY).reveal() == CANARY
    assert str(Sensitive(CANARY)) == MASK


def test_a_request_does_not_show_its_variables() -> None:
    body = {"user_id": "u", "type": "T", "template_id": "t", "variables": {"code": CANARY}}
    asked = request.parse(body)
    assert not isinstance(asked, Problem)
    shown = f"{asked} {asked!r} {asked.model_dump()} {asked.model_dump_json()}"
    assert CANARY not in shown
    assert asked.variables.reveal() == {"code": CANARY}


def test_an_error_about_a_request_does_not_quote_its_variables() -> None:
    body = {"user_id": 7, "type": "T", "variables": {"code": CANARY, "bad name": CANARY}}
    with pytest.raises(ValidationError) as refused:
        request.NotificationRequest.model_validate(body)
    assert CANARY not in f"{refused.value} {refused.value!r}"
    problem = request.parse(body)
    assert isinstance(problem, Problem)
    assert CANARY not in repr(problem)


def test_the_same_request_has_the_same_bytes_whatever_the_order_of_its_fields() -> None:
    body = {"user_id": "u", "type": "T", "template_id": "t", "variables": {"a": 1, "b": CANARY}}
    turned = {name: body[name] for name in reversed(body)} | {"variables": {"b": CANARY, "a": 1}}
    one, other = request.parse(body), request.parse(turned)
    assert not isinstance(one, Problem)
    assert not isinstance(other, Problem)
    assert request.canonical(one).reveal() == request.canonical(other).reveal()
