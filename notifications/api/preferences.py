"""`/v1/recipients/{user_id}/preferences`: the preferences of a recipient."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.api import etags
from notifications.api.authentication import actor_of, key_of
from notifications.api.base_view import BaseView, parse_body
from notifications.api.problems import raise_problem
from notifications.api.recipient_schemas import (
    PreferencesAnswer,
    PreferencesReplacement,
    PreferencesRequest,
)
from notifications.api.recipients import get_recipient, valid_user_id
from notifications.models import Preference, Recipient
from notifications.rules.problems import FieldError, Kind, Problem
from notifications.store.postgres import audit, recipients


class PreferencesView(BaseView):
    """`/v1/recipients/{user_id}/preferences`: read and change preferences."""

    @extend_schema(
        operation_id="get_preferences",
        summary="Read the preferences of a recipient",
        parameters=[etags.IF_NONE_MATCH],
        responses={200: PreferencesAnswer, 304: None},
        tags=["Recipients"],
    )
    def get(self, request: Request, user_id: str) -> Response:
        """Return the preferences of a recipient.

        A recipient without preferences allows everything, in the default order.
        """
        told = _preferences_json(get_recipient(request, user_id))
        return etags.etag_response(request, told, etags.tag_of(told))

    @extend_schema(
        operation_id="change_preferences",
        summary="Change preferences of a recipient",
        parameters=[etags.IF_MATCH],
        request=PreferencesRequest,
        responses={200: PreferencesAnswer},
        tags=["Recipients"],
    )
    def patch(self, request: Request, user_id: str) -> Response:
        """Change some preferences; omitted fields keep the current value.

        The change applies to queued deliveries too. A channel in `channels_off` blocks P0 too. No
        key can switch a category on again if the person switched the category off
        (`categories_left`).
        """
        return self._write(request, user_id, parse_body(request.data, PreferencesRequest))

    @extend_schema(
        operation_id="put_preferences",
        summary="Replace the preferences of a recipient",
        parameters=[etags.IF_MATCH],
        request=PreferencesReplacement,
        responses={200: PreferencesAnswer},
        tags=["Recipients"],
    )
    def put(self, request: Request, user_id: str) -> Response:
        """Replace all preferences. An omitted field is reset to the default."""
        return self._write(request, user_id, parse_body(request.data, PreferencesReplacement))

    def _write(self, request: Request, user_id: str, wanted: PreferencesRequest) -> Response:
        with transaction.atomic():
            etags.check(request, lambda: _preferences_tag(request, user_id))
            changed = _change_preferences(request, get_recipient(request, user_id), wanted)
        told = PreferencesAnswer.model_validate(changed).to_json()
        return etags.etag_response(request, told, etags.tag_of(told))


def _change_preferences(
    request: Request, recipient: Recipient, wanted: PreferencesRequest
) -> Preference:
    before = Preference.objects.filter(recipient=recipient)
    try:
        with audit.changes(actor_of(request), "change_preferences", before):
            return recipients.prefer(recipient, wanted.changes())
    except recipients.RecipientOptedOut as error:
        said = str(error)
        raise_problem(Problem(Kind.CONFLICT, said, (FieldError("/categories_off", said),)))


def _preferences_json(recipient: Recipient) -> dict[str, Any]:
    found = Preference.objects.filter(recipient=recipient).first()
    return PreferencesAnswer.model_validate(found or Preference()).to_json()


def _preferences_tag(request: Request, user_id: str) -> str | None:
    found = recipients.lock(mode=key_of(request).mode, user_id=valid_user_id(user_id))
    return None if found is None else etags.tag_of(_preferences_json(found))
