"""`/demo/inbox`: a page of `make demo` that shows the inbox of a person and sends messages.

    GET  /demo/inbox         the page, with `<notify-inbox>` and a form
    GET  /demo/inbox/token   the token URL of the page: asks the API for a recipient token
    POST /demo/inbox/send    sends the form's message through the API
    GET  /demo/inbox/push-token   the token URL of web push
    GET  /demo/notify-sw.js       the service worker of web push, as a site has it

The module plays the back end of a producer: the module calls the API over HTTP with the key of the
producer, and the browser gets the recipient token only. Without `make demo` (the setting
`DEMO_FOLDER`) or without the app of the inbox the paths are 404. The demo listens on the loopback
address, so the paths need no sign-in.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

from django.apps import apps
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import get_language_info
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from notifications.core import conf
from notifications.core.api import embed
from notifications.core.management import demo_data
from notifyproj.csp import HEADER
from notifyproj.devstack.demo.environment import Service, Unexpected

USER: Final = "u_789012"
"""The person whose inbox the page shows."""
LANGUAGES: Final = ("en", "de", "fr", "es", "ar")
COMPONENT: Final = "notify-inbox.js"
_LIFETIME_SECONDS: Final = 3600
_SCOPES: Final = ("inbox:read", "inbox:write")
_PUSH_SCOPES: Final = ("contacts:write", "receipts:write")
_WORKER: Final = 'importScripts("/embed/latest/notify-sw.js");\n'
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:;"
    " connect-src 'self'{live}; base-uri 'none'; form-action 'self'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types demo-push"
)
_ELEMENT: Final = '\n<notify-inbox token-url="/demo/inbox/token"></notify-inbox>'
_View = Callable[[HttpRequest], HttpResponse]


def _in_demo(view: _View) -> _View:
    @functools.wraps(view)
    def view_of_demo(request: HttpRequest) -> HttpResponse:
        if settings.DEMO_FOLDER is None or not apps.is_installed("notifications.features.inbox"):
            raise Http404
        return view(request)

    return view_of_demo


def _service() -> Service:
    """Return the API's client with the key of the demo's producer.

    Raises:
        OSError: `manage.py load_demo` has not written the keys.
    """
    folder = settings.DEMO_FOLDER
    assert folder is not None  # noqa: S101 - `_in_demo` has checked it
    keys = json.loads((folder / "demo_keys.json").read_text())
    return Service(
        conf.current().public_url, {"Authorization": f"Bearer {keys[demo_data.INBOX_SERVICE]}"}
    )


@_in_demo
@require_safe
@ensure_csrf_cookie
def page(request: HttpRequest) -> HttpResponse:
    """Show the page; `?lang=` chooses the language of the component."""
    public_url = conf.current().public_url
    if request.get_host() != urlsplit(public_url).netloc:
        return redirect(public_url + request.get_full_path())  # the policy names that origin
    wanted = request.GET.get("lang", "en")
    language = wanted if wanted in LANGUAGES else "en"
    tag = embed.script_tag(COMPONENT, public_url=public_url)
    response = render(
        request,
        "demo/inbox.html",
        {
            "user": USER,
            "language": language,
            "is_right_to_left": get_language_info(language)["bidi"],
            "languages": [(code, get_language_info(code)["name_local"]) for code in LANGUAGES],
            "public_url": public_url,
            "tag": tag,
            "snippet": tag + _ELEMENT,
        },
    )
    response.headers[HEADER] = _POLICY.format(live=_live_origin())
    return response


def _live_origin() -> str:
    """Return the origin of the live processes after a space; empty without live processes."""
    url = urlsplit(conf.current().live_url)
    return f" {url.scheme}://{url.netloc}" if url.netloc else ""


@_in_demo
@require_safe
def token(_request: HttpRequest) -> HttpResponse:
    """Return a recipient token of the person."""
    return _token(_SCOPES)


@_in_demo
@require_safe
def push_token(_request: HttpRequest) -> HttpResponse:
    """Return a recipient token for the service worker."""
    return _token(_PUSH_SCOPES)


def _token(scopes: tuple[str, ...]) -> HttpResponse:
    asked = {"expires_in_seconds": _LIFETIME_SECONDS, "scopes": list(scopes)}
    return _call("POST", f"/v1/recipients/{USER}/client-tokens", asked)


@_in_demo
@require_safe
def worker(_request: HttpRequest) -> HttpResponse:
    """Return the service worker for the pages below /demo/."""
    return HttpResponse(_WORKER, content_type="text/javascript")


@_in_demo
@require_POST
def send(request: HttpRequest) -> HttpResponse:
    """Send the form's message to the person's inbox; return the API's response."""
    content: dict[str, object] = {"title": request.POST.get("title", "")}
    for name in ("body", "url"):
        if request.POST.get(name):
            content[name] = request.POST[name]
    if request.POST.get("actions"):
        content["actions"] = [
            {"id": "track", "label": "Track", "url": "/demo/inbox#track"},
            {"id": "confirm", "label": "Confirm"},
        ]
    asked: dict[str, object] = {
        "user_id": USER,
        "type": request.POST.get("type", ""),
        "channels": ["in_app"],
        "content": content,
    }
    if request.POST.get("push"):
        asked |= {"channels": ["in_app", "push"], "delivery": "all"}
    if request.POST.get("collapse_key"):
        asked["collapse_key"] = request.POST["collapse_key"]
    return _call("POST", "/v1/notifications", asked)


def _call(method: str, where: str, asked: dict[str, Any]) -> HttpResponse:
    """Return the API's response, or 502 with the reason."""
    try:
        body = _service().ask(method, where, asked).body
    except (OSError, Unexpected, KeyError) as error:
        return JsonResponse({"detail": str(error)}, status=502)
    return JsonResponse(body, headers={"Cache-Control": "no-store"})


PATHS: Final = [
    path("demo/inbox", page, name="demo_inbox"),
    path("demo/inbox/token", token, name="demo_inbox_token"),
    path("demo/inbox/push-token", push_token, name="demo_inbox_push_token"),
    path("demo/notify-sw.js", worker, name="demo_worker"),
    path("demo/inbox/send", send, name="demo_inbox_send"),
]
