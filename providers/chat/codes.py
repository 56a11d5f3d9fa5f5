"""The verdicts of chat services, by error word, or by HTTP status without a known word."""

from __future__ import annotations

from typing import Final

from providers.chat.answers import NO_CODE, WECOM_GONE
from providers.verdicts import Table, Verdict

SLACK: Final[Table] = {
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

DISCORD: Final[Table] = {
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

TELEGRAM: Final[Table] = {
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

TEAMS: Final[Table] = {
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

GOOGLE: Final[Table] = {
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

MATTERMOST: Final[Table] = {
    # The server's own messages, server/i18n/en.json
    "web.incoming_webhook.invalid.app_error": Verdict.DEAD,
    "web.incoming_webhook.disabled.app_error": Verdict.REJECTED,
    "web.incoming_webhook.channel_locked.app_error": Verdict.REJECTED,
    "web.incoming_webhook.permissions.app_error": Verdict.REJECTED,
    "401": Verdict.REJECTED,
    "403": Verdict.REJECTED,
    "404": Verdict.DEAD,
}

WEBHOOK: Final[Table] = {"401": Verdict.DEAD, "403": Verdict.REJECTED, "404": Verdict.DEAD}
"""Codes of a service without error words: the webhook is gone."""

MATRIX: Final[Table] = {
    # https://matrix-org.github.io/matrix-hookshot/latest/setup/webhooks.html: "webhook not found"
    "404": Verdict.DEAD,
    "401": Verdict.REJECTED,
    "403": Verdict.REJECTED,
}

ZULIP: Final[Table] = {
    # https://zulip.com/api/rest-error-handling and the server's zerver/lib/exceptions.py
    "STREAM_DOES_NOT_EXIST": Verdict.DEAD,
    "NONEXISTENT_SUBDOMAIN": Verdict.DEAD,
    "INVALID_API_KEY": Verdict.DEAD_OR_MISCONFIGURED,
    "UNAUTHORIZED": Verdict.DEAD_OR_MISCONFIGURED,
    "USER_DEACTIVATED": Verdict.DEAD_OR_MISCONFIGURED,  # the bot
    "REALM_DEACTIVATED": Verdict.DEAD_OR_MISCONFIGURED,
    "BAD_REQUEST": Verdict.REJECTED,
    "RATE_LIMIT_HIT": Verdict.THROTTLED,
    "SERVER_NOT_READY": Verdict.UNAVAILABLE,
    "401": Verdict.DEAD_OR_MISCONFIGURED,
    "403": Verdict.REJECTED,
}

NEXTCLOUD: Final[Table] = {
    # https://nextcloud-talk.readthedocs.io/en/latest/chat: "sending a new chat message"
    "401": Verdict.DEAD_OR_MISCONFIGURED,
    "403": Verdict.REJECTED,  # the conversation is read-only
    "404": Verdict.DEAD,  # no such conversation, or the user is no longer in the conversation
    "412": Verdict.REJECTED,  # the lobby is open
    "413": Verdict.REJECTED,
}

FEISHU: Final[Table] = {
    # https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot: "error codes"
    "19001": Verdict.DEAD,  # the webhook is unknown
    "19002": Verdict.REJECTED,
    "19021": Verdict.REJECTED_OR_MISCONFIGURED,  # the bot asks for a signature
    "19022": Verdict.REJECTED_OR_MISCONFIGURED,  # the bot allows other IP addresses alone
    "19024": Verdict.REJECTED,  # the text has none of the bot's keywords
    "9499": Verdict.REJECTED,
    "11232": Verdict.THROTTLED,
    "404": Verdict.DEAD,
    NO_CODE: Verdict.UNANSWERED,
    "401": Verdict.REJECTED,
    "403": Verdict.REJECTED,
}

DINGTALK: Final[Table] = {
    # https://open.dingtalk.com/document/orgapp/custom-robots-send-group-messages: "error codes"
    "-1": Verdict.UNAVAILABLE,
    "300001": Verdict.DEAD,  # the token does not exist
    "300005": Verdict.DEAD,  # the same, since 2023
    "400013": Verdict.DEAD,  # the group was dissolved
    "400101": Verdict.DEAD,  # the token does not exist
    "400106": Verdict.DEAD,  # the robot does not exist
    "400102": Verdict.REJECTED,  # the robot is switched off
    "310000": Verdict.REJECTED_OR_MISCONFIGURED,  # keywords, signature or IP address of the robot
    "430101": Verdict.REJECTED,  # a link is refused
    "430102": Verdict.REJECTED,  # a text is refused
    "460101": Verdict.REJECTED,  # too long
    "130101": Verdict.THROTTLED,
    "410100": Verdict.THROTTLED,
    "660026": Verdict.THROTTLED,
    NO_CODE: Verdict.UNANSWERED,
    "401": Verdict.REJECTED,
    "403": Verdict.REJECTED,
}

WECOM: Final[Table] = {
    # https://developer.work.weixin.qq.com/document/path/91770, and path/90313: "global error codes"
    WECOM_GONE: Verdict.DEAD,
    "93000": Verdict.REJECTED,
    "93004": Verdict.REJECTED,  # the robot is switched off
    "40058": Verdict.REJECTED,
    "44004": Verdict.REJECTED,  # no text
    "45009": Verdict.THROTTLED,
    "-1": Verdict.UNAVAILABLE,
    NO_CODE: Verdict.UNANSWERED,
    "401": Verdict.REJECTED,
    "403": Verdict.REJECTED,
}

LINE: Final[Table] = {
    # https://developers.line.biz/en/reference/messaging-api/#error-responses
    "The property, 'to', in the request body is invalid": Verdict.DEAD,
    "Failed to send messages": Verdict.REJECTED,
    "You have reached your monthly limit.": Verdict.REJECTED_OR_MISCONFIGURED,
    "The API rate limit has been exceeded. Try again later.": Verdict.THROTTLED,
    "401": Verdict.DEAD_OR_MISCONFIGURED,
    "403": Verdict.REJECTED_OR_MISCONFIGURED,
}

VIBER: Final[Table] = {
    # https://developers.viber.com/docs/api/rest-bot-api/#error-codes: HTTP 200 with a status
    "2": Verdict.DEAD_OR_MISCONFIGURED,  # invalid token
    "3": Verdict.REJECTED,
    "4": Verdict.REJECTED,
    "5": Verdict.DEAD,  # not registered
    "6": Verdict.DEAD,  # not subscribed
    "7": Verdict.REJECTED_OR_MISCONFIGURED,  # the account is blocked
    "8": Verdict.DEAD_OR_MISCONFIGURED,  # no account has the token
    "9": Verdict.REJECTED_OR_MISCONFIGURED,  # the account is suspended
    "10": Verdict.REJECTED_OR_MISCONFIGURED,  # the account has no webhook
    "11": Verdict.REJECTED,  # no device of the receiver shows messages of bots
    "12": Verdict.THROTTLED,
    NO_CODE: Verdict.UNANSWERED,
    "401": Verdict.REJECTED,
    "403": Verdict.REJECTED,
}

THREEMA: Final[Table] = {
    # https://gateway.threema.ch/en/developer/api: "send a message in simple mode"
    "400": Verdict.DEAD_OR_MISCONFIGURED,  # the recipient, or an account in another mode
    "401": Verdict.DEAD_OR_MISCONFIGURED,
    "402": Verdict.REJECTED_OR_MISCONFIGURED,  # no credits
    "404": Verdict.DEAD,
    "413": Verdict.REJECTED,
    "403": Verdict.REJECTED,
}

PUSHOVER: Final[Table] = {
    # https://pushover.net/api#response
    "user invalid": Verdict.DEAD,
    "token invalid": Verdict.DEAD_OR_MISCONFIGURED,
    "401": Verdict.REJECTED,
    "403": Verdict.REJECTED,
}

NTFY: Final[Table] = {
    # The server's own codes, server/errors.go
    "40009": Verdict.DEAD,  # no name of a topic
    "40010": Verdict.DEAD,  # the server keeps the name for itself
    "40101": Verdict.DEAD_OR_MISCONFIGURED,
    "40301": Verdict.REJECTED,  # the topic belongs to somebody else
    "42901": Verdict.THROTTLED,
    "42908": Verdict.THROTTLED,  # messages of a day
    "50001": Verdict.UNAVAILABLE,
    "401": Verdict.DEAD_OR_MISCONFIGURED,
    "403": Verdict.REJECTED,
}

GOTIFY: Final[Table] = {
    # https://gotify.net/api-docs: the token names the application, which somebody deleted
    "401": Verdict.DEAD,
    "403": Verdict.REJECTED,
}
