"""`/v1/recipients/{user_id}/preferences`: the preferences of a recipient."""

from __future__ import annotations

from typing import Any, Final

from django.db import transaction
from pydantic import Field
from rest_framework.response import Response

from notifications.core.api import etags, schema
from notifications.core.api.examples import TAG, USER, Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.pagination import parse_query
from notifications.core.api.preference_schemas import (
    PreferencesAnswer,
    PreferencesReplacement,
    PreferencesRequest,
    StoredPreferences,
)
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import RequestModel
from notifications.core.feedback import preference_changes, preference_matrix
from notifications.core.feedback.preference_changes import NoDigest
from notifications.core.models import Preference, Recipient
from notifications.core.rules.access import BOTH
from notifications.core.rules.lane import Mode
from notifications.core.rules.language import page_languages
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.recipient import Locale
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.rules.scopes import Scope
from notifications.core.store.postgres import merged_recipients, recipients
from notifications.core.store.postgres.preferences import (
    MandatoryTopic,
    RecipientOptedOut,
    TooManyTopics,
)

_PATH: Final = "v1/recipients/<str:user_id>/preferences"
_USER: Final = {"user_id": USER}


class PreferencesQuery(RequestModel):
    """Parameters of the operations on preferences."""

    language: Locale | None = Field(default=None)
    """Language of the names in the answer, such as `de`: `en`, `de`, `fr`, `es`, `ar` or `pt-BR`.
    Default: the recipient's locale."""


_WITH_IF_MATCH: Final = (*schema.parameters(PreferencesQuery), etags.IF_MATCH)


@operation(
    f"GET {_PATH}",
    "Read the preferences of a recipient",
    Access(Scope.RECIPIENTS_READ, BOTH, "view_recipient", TokenScope.PREFERENCES_READ),
    answers={200: PreferencesAnswer, 304: None},
    tag="Preferences",
    parameters=[*schema.parameters(PreferencesQuery), etags.IF_NONE_MATCH],
    examples={
        "minimal": Example("Read the preferences", path=_USER),
        "usual": Example(
            "Only if the preferences have changed",
            status=304,
            path=_USER,
            headers={"If-None-Match": TAG},
        ),
    },
)
def get_preferences(call: Call) -> Response:
    """Return the preferences of a recipient, and all choices with names for display.

    A recipient without preferences allows everything, in the default order.
    """
    return _respond(call, _answer(call, merged_recipients.survivor_of(call.recipient())))


@operation(
    f"PATCH {_PATH}",
    "Change preferences of a recipient",
    Access(Scope.PREFERENCES_WRITE, BOTH, "change_preference", TokenScope.PREFERENCES_WRITE),
    PreferencesRequest,
    answers={200: PreferencesAnswer},
    tag="Preferences",
    parameters=_WITH_IF_MATCH,
    problems={Kind.CONFLICT},
    examples={
        "minimal": Example("No SMS", path=_USER, body={"channels_off": ["sms"]}),
        "usual": Example(
            "Do not disturb until an instant",
            path=_USER,
            headers={"If-Match": TAG},
            body={"do_not_disturb_until": "2100-01-01T07:00:00Z"},
        ),
    },
)
def change_preferences(call: Call, wanted: PreferencesRequest) -> Response:
    """Change some preferences; omitted fields keep the current value.

    The change applies to queued deliveries too. A channel in `channels_off` blocks P0 too. No
    key can switch on what the person switched off (`channels_left`, `categories_left`,
    `topics_left`). A mandatory topic cannot be switched off (422), and `digests` takes only
    topics that offer a digest (422).
    """
    return _write(call, wanted)


@operation(
    f"PUT {_PATH}",
    "Replace the preferences of a recipient",
    Access(Scope.PREFERENCES_WRITE, BOTH, "change_preference"),
    PreferencesReplacement,
    answers={200: PreferencesAnswer},
    tag="Preferences",
    parameters=_WITH_IF_MATCH,
    examples={
        "minimal": Example("Reset to the defaults", path=_USER, body={}),
        "usual": Example(
            "Quiet nights, no marketing, at most three SMS a day",
            path=_USER,
            headers={"If-Match": TAG},
            body={
                "channel_order": ["push", "sms", "email"],
                "categories_off": ["marketing"],
                "quiet_hours": [{"start": "22:00", "end": "07:00"}],
                "caps": {"sms": "3/day"},
            },
        ),
    },
)
def put_preferences(call: Call, wanted: PreferencesReplacement) -> Response:
    """Replace all preferences. An omitted field is reset to the default."""
    return _write(call, wanted)


def _write(call: Call, wanted: PreferencesRequest) -> Response:
    with transaction.atomic():
        recipient = merged_recipients.staying(call.recipient())
        etags.check(call.request, lambda: _current_tag(call, recipient))
        answer = _answer(call, *_change(call, recipient, wanted))
    return _respond(call, answer)


def _respond(call: Call, answer: dict[str, Any]) -> Response:
    return etags.etag_response(call.request, answer, etags.tag_of(answer))


def _change(
    call: Call, recipient: Recipient, wanted: PreferencesRequest
) -> tuple[Recipient, Preference]:
    try:
        return preference_changes.change(
            recipient, wanted.change(), by=call.by, by_recipient=call.token is not None
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
    call: Call, recipient: Recipient, preference: Preference | None = None
) -> dict[str, Any]:
    asked = parse_query(call.request, PreferencesQuery).language or ""
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


def _current_tag(call: Call, recipient: Recipient) -> str | None:
    found = recipients.lock(mode=Mode(recipient.mode), user_id=recipient.user_id)
    return None if found is None else etags.tag_of(_answer(call, found))
