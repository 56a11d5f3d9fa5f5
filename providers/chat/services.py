"""The supported chat services, and the outcomes of their answers.

An address is an Apprise URL; its scheme chooses a row. A row allows one shape of request, so that
an address can only post a message: Apprise would also look users up by mailbox, log in, or ask a
bot for the bot's chats.

A token is a part of the address, so an address with a refused token is dead. The token of a bot
is a part of many addresses; many such answers count as a bot without a valid token
(`Rejected.may_be_misconfigured`), not as many dead addresses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import orjson

from providers.chat import markup
from providers.transport import Response
from providers.verdicts import Table, Verdict

CODE_LIMIT: Final = 64
"""Characters of a service's error word that may serve as a code."""
_LONGEST_WAIT_S: Final = 86_400
"""A larger number of a service is no wait, and may be no `timedelta`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAnswer:
    """A service's answer."""

    code: str = ""
    """The service's own error word; empty: no error, or no word for the error."""
    message_id: str = ""
    retry_after: timedelta | None = None
    """Wait in the body, in seconds; the Response has the wait of a header."""
    moved_to: str = ""
    """The chat that took the place of the addressed chat."""


Read = Callable[[Response], ChatAnswer]
Path = tuple[str, ...]
"""Keys that lead to a value in a JSON document."""


def read_paths(*, code: Path, message_id: Path = (), wait: Path = ()) -> Read:
    """Return a reader of answers with fixed places for all values; `wait` is in seconds."""

    def read(response: Response) -> ChatAnswer:
        body = _body(response)
        return ChatAnswer(
            code=_text(body, code)[:CODE_LIMIT],
            message_id=_text(body, message_id),
            retry_after=_wait(body, wait),
        )

    return read


def slack(response: Response) -> ChatAnswer:
    """Read a bot's answer, 200 and `{"ok": ..., "error": ...}`, or a webhook's, a bare word."""
    body = _body(response)
    if isinstance(body, dict) and "ok" in body:
        error = "" if body["ok"] else _text(body, ("error",)) or "unknown"
        return ChatAnswer(code=error[:CODE_LIMIT], message_id=_text(body, ("ts",)))
    word = response.body[:CODE_LIMIT].decode(errors="replace").strip()
    return ChatAnswer(code=word if re.fullmatch("[a-z_]+", word) and word != "ok" else "")


def telegram(response: Response) -> ChatAnswer:
    """Read `{"ok": ..., "description": "Forbidden: bot was ...", "parameters": {...}}`.

    https://core.telegram.org/bots/api#responseparameters: a group that grows becomes a supergroup
    with another id, `migrate_to_chat_id`.
    """
    body = _body(response)
    if _at(body, ("ok",)):
        return ChatAnswer(message_id=_text(body, ("result", "message_id")))
    words = _text(body, ("description",)).partition(": ")
    wait = _wait(body, ("parameters", "retry_after"))
    moved = _at(body, ("parameters", "migrate_to_chat_id"))
    moved_to = str(moved) if isinstance(moved, int) else ""
    return ChatAnswer(code=(words[2] or words[0])[:CODE_LIMIT], retry_after=wait, moved_to=moved_to)


def status_alone(response: Response) -> ChatAnswer:
    """Read nothing, because only the HTTP status is documented."""
    del response
    return ChatAnswer()


def _body(response: Response) -> object:
    try:
        return orjson.loads(response.body)
    except ValueError:
        return None


def _at(document: object, path: Path) -> object:
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document if path else None


def _text(document: object, path: Path) -> str:
    return str(_at(document, path) or "")


def _wait(document: object, path: Path) -> timedelta | None:
    value = _at(document, path)
    if not isinstance(value, int | float) or value <= 0:
        return None
    return timedelta(seconds=min(value, _LONGEST_WAIT_S))


@dataclass(frozen=True, slots=True)
class ChatService:
    """A chat service."""

    plugin: str
    """Apprise's module below `apprise.plugins`, and the class in the module."""
    target: str
    """Required beginning of the request's URL: a regular expression."""
    codes: Table
    """Verdict by the service's error word, or by HTTP status without a known word."""
    read: Read = status_alone
    home: str = ""
    """A page that answers if the service is up; empty for self-hosted services."""
    finish: markup.Finish = field(kw_only=True)
    counted: markup.Counted = markup.text_field
    query: str = ""
    """Parameters of the URL that Apprise does not send."""


_SLACK: Final[Table] = {
    # https://docs.slack.dev/reference/methods/chat.postMessage: errors
    "channel_not_found": Verdict.DEAD,
    "is_archived": Verdict.DEAD,
    "user_not_found": Verdict.DEAD,
    "not_in_channel": Verdict.REJECTED,
    "restricted_action": Verdict.REJECTED,
    "msg_too_long": Verdict.REJECTED,
    "no_text": Verdict.REJECTED,
    "invalid_blocks": Verdict.REJECTED,
    "invalid_arguments": Verdict.REJECTED,
    "invalid_auth": Verdict.DEAD_OR_MISCONFIGURED,
    "not_authed": Verdict.DEAD_OR_MISCONFIGURED,
    "account_inactive": Verdict.DEAD_OR_MISCONFIGURED,
    "token_revoked": Verdict.DEAD_OR_MISCONFIGURED,
    "token_expired": Verdict.DEAD_OR_MISCONFIGURED,
    "missing_scope": Verdict.REJECTED_OR_MISCONFIGURED,  # a setting of the bot
    "ratelimited": Verdict.THROTTLED,
    "rate_limited": Verdict.THROTTLED,
    "internal_error": Verdict.UNAVAILABLE,
    "fatal_error": Verdict.UNAVAILABLE,
    "service_unavailable": Verdict.UNAVAILABLE,
    # https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks: errors
    "no_service": Verdict.DEAD,
    "no_service_id": Verdict.DEAD,
    "no_team": Verdict.DEAD,
    "team_disabled": Verdict.DEAD,
    "invalid_token": Verdict.DEAD,
    "no_active_hooks": Verdict.DEAD,
    "channel_is_archived": Verdict.DEAD,
    "action_prohibited": Verdict.REJECTED,
    "posting_to_general_channel_denied": Verdict.REJECTED,
    "invalid_payload": Verdict.REJECTED,
    "too_many_attachments": Verdict.REJECTED,
    "rollup_error": Verdict.UNAVAILABLE,
    "403": Verdict.REJECTED,
    "404": Verdict.DEAD,
    "410": Verdict.DEAD,
}

_DISCORD: Final[Table] = {
    # https://discord.com/developers/docs/topics/opcodes-and-status-codes: JSON error codes
    "10003": Verdict.DEAD,  # unknown channel
    "10015": Verdict.DEAD,  # unknown webhook
    "50027": Verdict.DEAD,  # invalid webhook token
    "50006": Verdict.REJECTED,  # empty message
    "50035": Verdict.REJECTED,  # invalid form: too long
    "160005": Verdict.REJECTED,  # the thread is locked
    "40333": Verdict.MISCONFIGURED,  # the client's address or User-Agent is blocked
    "130000": Verdict.UNAVAILABLE,  # overloaded
    "401": Verdict.DEAD,
    "403": Verdict.REJECTED,
    "404": Verdict.DEAD,
}

_TELEGRAM: Final[Table] = {
    # https://core.telegram.org/api/errors; the descriptions are the Bot API server's
    "bot was blocked by the user": Verdict.DEAD,
    "user is deactivated": Verdict.DEAD,
    "bot was kicked from the group chat": Verdict.DEAD,
    "bot was kicked from the supergroup chat": Verdict.DEAD,
    "bot was kicked from the channel chat": Verdict.DEAD,
    "bot is not a member of the supergroup chat": Verdict.DEAD,
    "bot is not a member of the channel chat": Verdict.DEAD,
    "the group chat was deleted": Verdict.DEAD,
    "chat not found": Verdict.DEAD,
    "group chat was upgraded to a supergroup chat": Verdict.REJECTED,  # see ChatAnswer.moved_to
    "bot can't initiate conversation with a user": Verdict.REJECTED,
    "have no rights to send a message": Verdict.REJECTED,
    "message is too long": Verdict.REJECTED,
    "message text is empty": Verdict.REJECTED,
    "401": Verdict.DEAD_OR_MISCONFIGURED,
    "404": Verdict.DEAD,  # no token at all: malformed
    "403": Verdict.REJECTED,
}

_TEAMS: Final[Table] = {
    # https://learn.microsoft.com/azure/logic-apps: a workflow's HTTP trigger
    "WorkflowNotFound": Verdict.DEAD,
    "WorkflowTriggerIsNotEnabled": Verdict.DEAD,
    "DirectApiAuthorizationRequired": Verdict.DEAD,
    "AuthorizationFailed": Verdict.DEAD,
    "TriggerInputSchemaMismatch": Verdict.REJECTED,
    "WorkflowTriggerThrottled": Verdict.THROTTLED,
    "401": Verdict.DEAD,
    "403": Verdict.REJECTED,
    "404": Verdict.DEAD,
    "410": Verdict.DEAD,
}

_GOOGLE: Final[Table] = {
    # https://cloud.google.com/apis/design/errors: canonical codes
    "NOT_FOUND": Verdict.DEAD,
    "UNAUTHENTICATED": Verdict.DEAD,
    "PERMISSION_DENIED": Verdict.REJECTED,
    "INVALID_ARGUMENT": Verdict.REJECTED,
    "FAILED_PRECONDITION": Verdict.REJECTED,
    "RESOURCE_EXHAUSTED": Verdict.THROTTLED,
    "UNAVAILABLE": Verdict.UNAVAILABLE,
    "INTERNAL": Verdict.UNAVAILABLE,
    "DEADLINE_EXCEEDED": Verdict.UNANSWERED,
    "401": Verdict.DEAD,
    "403": Verdict.REJECTED,
    "404": Verdict.DEAD,
}

_MATTERMOST: Final[Table] = {
    # The server's own messages, server/i18n/en.json
    "web.incoming_webhook.invalid.app_error": Verdict.DEAD,
    "web.incoming_webhook.disabled.app_error": Verdict.REJECTED,
    "web.incoming_webhook.channel_locked.app_error": Verdict.REJECTED,
    "web.incoming_webhook.permissions.app_error": Verdict.REJECTED,
    "401": Verdict.REJECTED,
    "403": Verdict.REJECTED,
    "404": Verdict.DEAD,
}

_WEBHOOK: Final[Table] = {"401": Verdict.DEAD, "403": Verdict.REJECTED, "404": Verdict.DEAD}
"""Codes of a service without error words: the webhook is gone."""

_HOOKS: Final = r"https://[^/]+/(.+/)?hooks/"
_TEAMS_SERVICE: Final = ChatService(
    "workflows.NotifyWorkflows",
    r"https://[^/]+/(.+/)?workflows/",
    _TEAMS,
    read_paths(code=("error", "code")),
    finish=markup.teams,
    counted=markup.teams_payload,
)

SERVICES: Final[Mapping[str, ChatService]] = {
    "slack": ChatService(
        "slack.NotifySlack",
        r"https://(hooks\.slack\.com/|slack\.com/api/chat\.postMessage$)",
        _SLACK,
        slack,
        home="https://slack.com/api/api.test",
        finish=markup.slack,
        counted=markup.slack_text,
    ),
    "discord": ChatService(
        "discord.NotifyDiscord",
        r"https://discord\.com/api/webhooks/",
        _DISCORD,
        read_paths(code=("code",), message_id=("id",), wait=("retry_after",)),
        home="https://discord.com/api/v10/gateway",
        finish=markup.discord,
        counted=markup.discord_text,
        # https://discord.com/developers/docs/resources/webhook: "execute webhook". Without `wait`,
        # Discord answers 204 before the message is stored, and also if the message is lost.
        query="wait=true",
    ),
    "workflow": _TEAMS_SERVICE,
    "workflows": _TEAMS_SERVICE,
    "tgram": ChatService(
        "telegram.NotifyTelegram",
        r"https://api\.telegram\.org/bot[^/]+/sendMessage$",
        _TELEGRAM,
        telegram,
        home="https://api.telegram.org/",
        finish=markup.telegram,
        counted=markup.telegram_text,
    ),
    "gchat": ChatService(
        "google_chat.NotifyGoogleChat",
        r"https://chat\.googleapis\.com/v1/spaces/",
        _GOOGLE,
        read_paths(code=("error", "status"), message_id=("name",)),
        home="https://chat.googleapis.com/",
        finish=markup.google_chat,
    ),
    "mmosts": ChatService(
        "mattermost.NotifyMattermost",
        _HOOKS,
        _MATTERMOST,
        read_paths(code=("id",)),
        finish=markup.mattermost,
    ),
    "rockets": ChatService(
        "rocketchat.NotifyRocketChat", _HOOKS, _WEBHOOK, finish=markup.rocket_chat
    ),
    "wxteams": ChatService(
        "webexteams.NotifyWebexTeams",
        r"https://api\.ciscospark\.com/v1/webhooks/incoming/",
        _WEBHOOK,
        home="https://api.ciscospark.com/v1/ping",
        finish=markup.webex,
        counted=markup.webex_text,
    ),
}
"""Services by scheme of the address."""
