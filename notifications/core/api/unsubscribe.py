"""`/unsubscribe/{token}`: the unsubscribe page, and one-click unsubscription (RFC 8058).

    GET   shows the choices and changes nothing, because scanners and prefetchers follow links
    POST  List-Unsubscribe=One-Click   sent by the mailbox provider: unsubscribes at once
          choice=topic|marketing|channel   the form: unsubscribes and shows a confirmation
          undo=...                         the button on the confirmation: reverts the change

There is no cookie and no CSRF token: the link is the credential, and the mailbox provider has only
the link. `recipient_pages` has the rules for the headers. A link works for a year
(`unsubscribe_links.LIFETIME`); the page's link to the preference page, which can also switch on,
works for a day.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, QueryDict, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.utils import translation
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from notifications.core import clock
from notifications.core.api import recipient_pages
from notifications.core.api.recipient_pages import language_for, render_page
from notifications.core.delivery import preference_links, unsubscribe_links
from notifications.core.delivery.preference_links import ExpiredLink
from notifications.core.delivery.unsubscribe_links import BadLink, Link
from notifications.core.feedback import preference_matrix, unsubscribe
from notifications.core.feedback.unsubscribe import Choice
from notifications.core.models import Recipient
from notifications.core.rules.language import locales, page_languages
from notifications.core.store.cached import topic_texts

_ONE_CLICK: Final = "One-Click"
_URL_ENCODED: Final = "application/x-www-form-urlencoded"
_DAY: Final = dt.timedelta(days=1)


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, token: str) -> HttpResponse:
    """Show the page, or apply a posted choice."""
    language = language_for(request)
    try:
        link, recipient = unsubscribe_links.read(token, now=clock.now())
        language = language_for(request, locale=recipient.locale)
        with translation.override(language):
            if request.method != "POST":
                return _choices(request, link, recipient)
            return _apply_choice(request, link, recipient)
    except BadLink:
        return recipient_pages.broken_link(request)
    except ExpiredLink:
        return recipient_pages.expired_link(request)
    except (OperationalError, InterfaceError):
        title = gettext_noop("Unsubscribe")
        return recipient_pages.nothing_changed(request, title=title, language=language)


def _apply_choice(request: HttpRequest, link: Link, recipient: Recipient) -> HttpResponse:
    form = _form(request)
    if undo := form.get("undo"):
        unsubscribe.undo(link, undo)
        said = gettext("All as before. You will go on receiving this.")
        return _render(request, {"said": said, "preferences": _preferences_of(request, recipient)})
    choice = _choice(form)
    if choice is None:
        return _choices(request, link, recipient, status=HTTPStatus.BAD_REQUEST)
    if choice is Choice.TOPIC and _is_mandatory(link):
        return _choices(request, link, recipient, status=HTTPStatus.CONFLICT)
    undo = unsubscribe.leave(link, choice)
    said = gettext("Done. You will not receive this any more.")
    context = {"said": said, "undo": undo, "preferences": _preferences_of(request, recipient)}
    return _render(request, context)


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
    context = {"choices": _choices_of(link), "preferences": _preferences_of(request, recipient)}
    return _render(request, context, status=status)


def _is_mandatory(link: Link) -> bool:
    """Return True if the topic became mandatory after the message with the link had left."""
    return link.topic in preference_matrix.mandatory_topics()


def _choices_of(link: Link) -> list[tuple[str, str]]:
    """Return the choices without duplicates and without a mandatory topic, in the page language.

    For the category marketing, topic equals marketing.
    """
    language = translation.get_language() or locales.DEFAULT
    name = topic_texts.words(link.topic, locale=language).name
    kind = gettext("Messages of the kind “{topic}”").format(topic=name)
    topic = (Choice.TOPIC.value, kind)
    marketing = (Choice.MARKETING.value, gettext("All advertising"))
    has_topic = link.topic != unsubscribe.MARKETING and not _is_mandatory(link)
    narrow = [topic, marketing] if has_topic else [marketing]
    # The person must know before the choice that security codes stop too.
    channel = gettext("All e-mail from us, security codes included")
    return [*narrow, (Choice.CHANNEL.value, channel)]


def _preferences_of(request: HttpRequest, recipient: Recipient) -> str:
    """Return the path of the preference page; empty if no app serves the page."""
    token = preference_links.token_of(recipient.pk, now=clock.now(), lifetime=_DAY)
    path = preference_links.path_with(token)
    return path + recipient_pages.brand_query(request) if path else ""


def _render(
    request: HttpRequest, context: Mapping[str, object], *, status: int = HTTPStatus.OK
) -> HttpResponse:
    shown = {"title": gettext("Unsubscribe"), **context}
    language = page_languages.choose([translation.get_language() or ""])
    return render_page(request, "unsubscribe/page.html", shown, language=language, status=status)
