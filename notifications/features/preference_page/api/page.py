"""`/preferences/{token}`: the preference page of a recipient.

    GET   shows the choices and changes nothing, because scanners and prefetchers follow links
    POST  the form: saves the changed choices and shows the page again

The token is that of a link in an e-mail (`delivery.preference_links`), or a recipient token with
`preferences:read` and `preferences:write`. The page works without JavaScript. `recipient_pages` has
the rules for the headers.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

import structlog
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, QueryDict, UnreadablePostError
from django.utils import translation
from django.utils.translation import gettext_noop
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from notifications.core import clock
from notifications.core.api import address_limits, recipient_pages
from notifications.core.api.recipient_pages import language_for, render_page
from notifications.core.delivery import preference_links
from notifications.core.delivery.preference_links import ExpiredLink, InvalidLink
from notifications.core.feedback import preference_changes, preference_matrix
from notifications.core.models import Preference, Recipient
from notifications.core.rules.recipient_tokens import Refusal, TokenRefused, TokenScope
from notifications.core.store.postgres.preferences import MandatoryTopic
from notifications.core.store.recipient_tokens import verification
from notifications.features.preference_page.api import form
from notifications.features.preference_page.api.form import BadForm

BY: Final = "the recipient (preference page)"
"""The actor in the audit log."""
_SCOPES: Final = frozenset({TokenScope.PREFERENCES_READ, TokenScope.PREFERENCES_WRITE})
_DOTS_OF_JWT: Final = 2
_log: Final = structlog.get_logger(__name__)


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, token: str) -> HttpResponse:
    """Show the page, or save a posted form."""
    try:
        recipient = _recipient(token)
        if address_limits.wait_of_recipient(recipient.pk):
            return _too_many(request)
        if request.method == "POST":
            return _save(request, recipient)
        return _show(request, recipient)
    except ExpiredLink:
        return recipient_pages.expired_link(request)
    except (InvalidLink, Recipient.DoesNotExist):  # erased before or during the change
        return recipient_pages.broken_link(request)
    except (OperationalError, InterfaceError):
        return _later(request)


def _recipient(token: str) -> Recipient:
    """Return the recipient of a token.

    Raises:
        InvalidLink: the token is forged, lacks a scope, or the recipient was erased.
        ExpiredLink: the token is too old.
    """
    now = clock.now()
    if token.count(".") != _DOTS_OF_JWT:
        return preference_links.read(token, now=now)
    try:
        verified = verification.verify(token)
    except TokenRefused as refused:
        raise ExpiredLink if refused.reason is Refusal.EXPIRED else InvalidLink from refused
    recipient = Recipient.objects.filter(pk=verified.recipient_id).first()
    if recipient is None or not verified.scopes >= _SCOPES:
        raise InvalidLink
    return recipient


def _save(request: HttpRequest, recipient: Recipient) -> HttpResponse:
    language = language_for(request, locale=recipient.locale)
    preference = _preference(recipient)
    try:
        with translation.override(language):
            wanted = form.change_of(_form(request), recipient, preference)
        if not wanted.is_empty:
            recipient, _ = preference_changes.change(recipient, wanted, by=BY, by_recipient=True)
            _log.info("preferences_saved", recipient_id=recipient.pk)
    except BadForm as error:
        return _show(request, recipient, fault=str(error), status=HTTPStatus.BAD_REQUEST)
    except MandatoryTopic:
        # An operator made the topic mandatory after the page was drawn; the new page shows it.
        return _show(request, recipient, status=HTTPStatus.CONFLICT)
    return _show(request, recipient, saved=True)


def _form(request: HttpRequest) -> QueryDict:
    """Return the posted form; empty if the form cannot be read, which changes nothing."""
    try:
        return request.POST
    except (RequestDataTooBig, TooManyFieldsSent, UnreadablePostError):
        return QueryDict()


def _preference(recipient: Recipient) -> Preference:
    return Preference.objects.filter(recipient=recipient).first() or Preference()


def _show(
    request: HttpRequest,
    recipient: Recipient,
    *,
    saved: bool = False,
    fault: str = "",
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    language = language_for(request, locale=recipient.locale)
    preference = _preference(recipient)
    matrix = preference_matrix.of(recipient, preference, language=language)
    with translation.override(language):
        context = form.context(recipient, preference, matrix)
    shown = {**context, "saved": saved, "fault": fault}
    return render_page(
        request, "preference_page/page.html", shown, language=language, status=status
    )


def _later(request: HttpRequest) -> HttpResponse:
    title = gettext_noop("Notification settings")
    return recipient_pages.nothing_changed(request, title=title, language=language_for(request))


def _too_many(request: HttpRequest) -> HttpResponse:
    answer = _later(request)
    answer.status_code = HTTPStatus.TOO_MANY_REQUESTS
    return answer
