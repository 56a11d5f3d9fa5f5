"""`/unsubscribe/{token}`: the unsubscribe page, and one-click unsubscription (RFC 8058).

    GET   shows the choices and changes nothing, because scanners and prefetchers follow links
    POST  List-Unsubscribe=One-Click   sent by the mailbox provider: unsubscribes at once
          choice=topic|marketing|channel   the form: unsubscribes and shows a confirmation
          undo=...                         the button on the confirmation: reverts the change

There is no cookie and no CSRF token: the link is the credential, and the mailbox provider has only
the link. No response redirects. The page loads no resources, sends no referrer and is not cached,
because the URL is a credential.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from hashlib import sha256
from http import HTTPStatus
from typing import Final

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, QueryDict, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.utils import translation
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from notifications.api.unsubscribe_words import PageTexts, words_for
from notifications.delivery import unsubscribe_links
from notifications.delivery.unsubscribe_links import BadLink, Link
from notifications.feedback import unsubscribe
from notifications.feedback.unsubscribe import Choice
from notifications.models import Recipient
from notifications.rules.language import locales

_ONE_CLICK: Final = "One-Click"
_URL_ENCODED: Final = "application/x-www-form-urlencoded"
_RETRY_AFTER_SECONDS: Final = "60"

_STYLE: Final = """
:root { color-scheme: light dark; --paper: #f4f4f5; --card: #fff; --ink: #18181b; --line: #d4d4d8;
  --soft: #52525b; --deed: #1d4ed8 }
@media (prefers-color-scheme: dark) {
  :root { --paper: #18181b; --card: #27272a; --ink: #f4f4f5; --line: #52525b; --soft: #a1a1aa }
}
* { box-sizing: border-box }
body { font: 1.0625rem/1.55 system-ui, sans-serif; margin: 0; background: var(--paper);
  color: var(--ink) }
main { max-width: 32rem; margin: clamp(1rem, 10vh, 6rem) auto; padding: 1.75rem;
  background: var(--card); border: 1px solid var(--line); border-radius: 1rem }
@media (max-width: 34rem) { main { margin: 0; min-height: 100vh; border: 0; border-radius: 0 } }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem }
fieldset { border: 0; margin: 0 0 1.5rem; padding: 0; min-width: 0 }
legend { margin-bottom: .75rem; padding: 0; color: var(--soft) }
label { display: flex; gap: .75rem; align-items: baseline; padding: .75rem 1rem; cursor: pointer;
  border: 1px solid var(--line); border-radius: .75rem; margin-bottom: .5rem;
  overflow-wrap: anywhere }
button { font: inherit; font-weight: 600; padding: .75rem 1.5rem; cursor: pointer; width: 100%;
  border: 0; border-radius: .75rem; background: var(--deed); color: #fff }
.back { background: none; color: inherit; border: 1px solid var(--line); margin-top: .5rem }
"""
_STYLE_HASH: Final = base64.b64encode(sha256(_STYLE.encode()).digest()).decode()
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}';"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, token: str) -> HttpResponse:
    """Show the page, or apply a posted choice."""
    try:
        link, recipient = unsubscribe_links.read(token)
        if request.method != "POST":
            return _choices(request, link, recipient)
        return _apply_choice(request, link, recipient)
    except BadLink:
        language, words = words_for(translation.get_language_from_request(request))
        said, status = words.bad_link, HTTPStatus.NOT_FOUND
        return _say(request, language, words.bad_title, said, status=status)
    except (OperationalError, InterfaceError):
        language, words = words_for(translation.get_language_from_request(request))
        status = HTTPStatus.SERVICE_UNAVAILABLE
        answer = _say(request, language, words.title, words.later, status=status)
        answer["Retry-After"] = _RETRY_AFTER_SECONDS
        return answer


def _apply_choice(request: HttpRequest, link: Link, recipient: Recipient) -> HttpResponse:
    form = _form(request)
    language, words = words_for(recipient.locale)
    if taken_back := form.get("undo"):
        unsubscribe.undo(link, taken_back)
        return _say(request, language, words.title, words.undone)
    choice = _choice(form)
    if choice is None:
        return _choices(request, link, recipient, status=HTTPStatus.BAD_REQUEST)
    undo = unsubscribe.leave(link, choice)
    context = {"language": language, "title": words.title, "said": words.done}
    offer = {"undo": undo, "undo_button": words.undo}
    return _render(request, context | offer, status=HTTPStatus.OK)


def _form(request: HttpRequest) -> QueryDict:
    """Return the posted form; empty if the form cannot be read."""
    try:
        # Django refuses a charset other than UTF-8. Mail programs name other charsets, although
        # the form is ASCII.
        is_form = request.content_type == _URL_ENCODED
        return QueryDict(request.body) if is_form else request.POST
    except (MultiPartParserError, RequestDataTooBig, UnreadablePostError):
        return QueryDict()


def _choice(form: QueryDict) -> Choice | None:
    """Return the posted choice; None if the choice is missing or unknown."""
    if form.get("List-Unsubscribe") == _ONE_CLICK:
        return Choice.TOPIC
    try:
        return Choice(form.get("choice", ""))
    except ValueError:
        return None


def _choices(
    request: HttpRequest, link: Link, recipient: Recipient, *, status: int = HTTPStatus.OK
) -> HttpResponse:
    language, words = words_for(recipient.locale)
    context = {
        "language": language,
        "title": words.title,
        "legend": words.question,
        "choices": _choices_of(link, words),
        "button": words.button,
    }
    return _render(request, context, status=status)


def _choices_of(link: Link, words: PageTexts) -> list[tuple[str, str]]:
    """Return the choices without duplicates: for the category marketing, topic equals marketing."""
    topic = (Choice.TOPIC.value, words.topic.format(topic=link.topic))
    marketing = (Choice.MARKETING.value, words.marketing)
    narrow = [marketing] if link.topic == unsubscribe.MARKETING else [topic, marketing]
    return [*narrow, (Choice.CHANNEL.value, words.channel)]


def _say(
    request: HttpRequest, language: str, title: str, said: str, *, status: int = HTTPStatus.OK
) -> HttpResponse:
    return _render(request, {"language": language, "title": title, "said": said}, status=status)


def _render(request: HttpRequest, context: Mapping[str, object], *, status: int) -> HttpResponse:
    direction = locales.direction(str(context["language"]))
    shown = {**context, "style": _STYLE, "direction": direction}
    answer = render(request, "unsubscribe/page.html", shown, status=status)
    for name, value in _HEADERS.items():
        answer[name] = value
    return answer
