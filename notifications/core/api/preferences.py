"""`/v1/recipients/{user_id}/preferences`: the preferences of a recipient."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api import etags, schema
from notifications.core.api.base_view import parse_body
from notifications.core.api.pagination import parse_query
from notifications.core.api.preference_schemas import (
    PreferencesAnswer,
    PreferencesReplacement,
    PreferencesRequest,
    StoredPreferences,
)
from notifications.core.api.problems import raise_problem
from notifications.core.api.recipient_access import RecipientView, actor_of, recipient_for, token_of
from notifications.core.api.schemas import RequestModel
from notifications.core.feedback import preference_changes, preference_matrix
from notifications.core.feedback.preference_changes import NoDigest
from notifications.core.models import Preference, Recipient
from notifications.core.rules.lane import Mode
from notifications.core.rules.language import page_languages
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.recipient import Locale
from notifications.core.store.postgres import merged_recipients, recipients
from notifications.core.store.postgres.preferences import (
    MandatoryTopic,
    RecipientOptedOut,
    TooManyTopics,
)


class PreferencesQuery(RequestModel):
    """Parameters of the operations on preferences."""

    language: Locale | None = Field(default=None)
    """Language of the names in the answer, such as `de`: `en`, `de`, `fr`, `es`, `ar` or `pt-BR`.
    Default: the recipient's locale."""


class PreferencesView(RecipientView):
    """`/v1/recipients/{user_id}/preferences`: read and change preferences."""

    @extend_schema(
        operation_id="get_preferences",
        summary="Read the preferences of a recipient",
        parameters=[*schema.parameters(PreferencesQuery), etags.IF_NONE_MATCH],
        responses={200: PreferencesAnswer, 304: None},
        tags=["Preferences"],
    )
    def get(self, request: Request, user_id: str) -> Response:
        """Return the preferences of a recipient, and all choices with names for display.

        A recipient without preferences allows everything, in the default order.
        """
        recipient = merged_recipients.survivor_of(recipient_for(request, user_id))
        answer = _answer(request, recipient)
        return etags.etag_response(request, answer, etags.tag_of(answer))

    @extend_schema(
        operation_id="change_preferences",
        summary="Change preferences of a recipient",
        parameters=[*schema.parameters(PreferencesQuery), etags.IF_MATCH],
        request=PreferencesRequest,
        responses={200: PreferencesAnswer},
        tags=["Preferences"],
    )
    def patch(self, request: Request, user_id: str) -> Response:
        """Change some preferences; omitted fields keep the current value.

        The change applies to queued deliveries too. A channel in `channels_off` blocks P0 too. No
        key can switch on what the person switched off (`channels_left`, `categories_left`,
        `topics_left`). A mandatory topic cannot be switched off (422), and `digests` takes only
        topics that offer a digest (422).
        """
        return self._write(request, user_id, parse_body(request.data, PreferencesRequest))

    @extend_schema(
        operation_id="put_preferences",
        summary="Replace the preferences of a recipient",
        parameters=[*schema.parameters(PreferencesQuery), etags.IF_MATCH],
        request=PreferencesReplacement,
        responses={200: PreferencesAnswer},
        tags=["Preferences"],
    )
    def put(self, request: Request, user_id: str) -> Response:
        """Replace all preferences. An omitted field is reset to the default."""
        return self._write(request, user_id, parse_body(request.data, PreferencesReplacement))

    def _write(self, request: Request, user_id: str, wanted: PreferencesRequest) -> Response:
        with transaction.atomic():
            recipient = merged_recipients.staying(recipient_for(request, user_id))
            etags.check(request, lambda: _current_tag(request, recipient))
            answer = _answer(request, *_change(request, recipient, wanted))
        return etags.etag_response(request, answer, etags.tag_of(answer))


def _change(
    request: Request, recipient: Recipient, wanted: PreferencesRequest
) -> tuple[Recipient, Preference]:
    try:
        return preference_changes.change(
            recipient,
            wanted.change(),
            by=actor_of(request),
            by_recipient=token_of(request) is not None,
        )
    except RecipientOptedOut as error:
        raise_problem(_problem(Kind.CONFLICT, wanted, str(error)))
    except NoDigest as error:
        raise_problem(Problem(Kind.INVALID, str(error), (FieldError("/digests", str(error)),)))
    except (MandatoryTopic, TooManyTopics) as error:
        raise_problem(_problem(Kind.INVALID, wanted, str(error)))


def _problem(kind: Kind, wanted: PreferencesRequest, detail: str) -> Problem:
    fields = ("choices", "topics_off", "categories_off", "channels_off")
    given = [name for name in fields if name in wanted.model_fields_set]
    pointer = given[0] if len(given) == 1 else "categories_off"
    return Problem(kind, detail, (FieldError(f"/{pointer}", detail),))


def _answer(
    request: Request, recipient: Recipient, preference: Preference | None = None
) -> dict[str, Any]:
    asked = parse_query(request, PreferencesQuery).language or ""
    language = page_languages.choose([asked, recipient.locale])
    if preference is None:
        preference = Preference.objects.filter(recipient=recipient).first() or Preference()
    stored = StoredPreferences.model_validate(preference).model_dump()
    matrix = preference_matrix.of(recipient, preference, language=language)
    return PreferencesAnswer.model_validate({
        **stored,
        "locale": recipient.locale,
        "timezone": recipient.timezone,
        "language": matrix.language,
        "channels": matrix.channels,
        "topics": matrix.topics,
    }).to_json()


def _current_tag(request: Request, recipient: Recipient) -> str | None:
    found = recipients.lock(mode=Mode(recipient.mode), user_id=recipient.user_id)
    return None if found is None else etags.tag_of(_answer(request, found))
