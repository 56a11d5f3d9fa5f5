"""An application answers when it returns or later, and the server takes the answer."""

from __future__ import annotations

import inspect
from typing import Any

from granian import wsgi
from granian.server import mp

from notifications.core.api.replies import REPLY, Reply
from notifyproj import web
from tests.replies import Told


def _served(application: Any) -> Told:  # noqa: ANN401 - any WSGI application
    told = Told()
    web._with_reply(application, {})(told, {"PATH_INFO": "/"})
    return told


def test_granian_calls_the_wrapper_that_the_web_process_replaces() -> None:
    assert mp._wsgi_call_wrap is wsgi._callback_wrapper  # type: ignore[attr-defined]  # not exported
    assert "_wsgi_call_wrap(" in inspect.getsource(mp.MPServer._spawn_wsgi_worker)


def test_an_application_answers_when_it_returns() -> None:
    def application(_environ: dict[str, Any], start: Any) -> list[bytes]:  # noqa: ANN401 - WSGI's
        start("200 OK", [("X-Name", "value")])
        return [b"now"]

    assert _served(application).response(0) == (200, [("X-Name", "value")], b"now")


def test_an_application_answers_once_after_it_has_returned() -> None:
    replies: list[Reply] = []
    ends: list[str] = []

    def application(environ: dict[str, Any], _start: object) -> list[bytes]:
        reply: Reply = environ[REPLY]
        replies.append(reply)
        reply.is_later, reply.at_end = True, lambda: ends.append("end")
        return []

    told = _served(application)
    assert not told.has_response
    replies[0].send(202, [("X-Name", "value")], b"later")
    assert told.response(0) == (202, [("X-Name", "value")], b"later")
    assert ends == ["end"]
