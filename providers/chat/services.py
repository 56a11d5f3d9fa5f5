"""The supported chat services, and the outcomes of their answers.

An address is an Apprise URL; its scheme chooses a row. A row allows one shape of request, so that
an address can only post a message: Apprise would also look users up by mailbox, log in, or ask a
bot for the bot's chats.

A token is a part of the address, so an address with a refused token is dead. The token of a bot
is a part of many addresses; many such answers count as a bot without a valid token
(`Rejected.may_be_misconfigured`), not as many dead addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from providers.chat import answers, codes, markup
from providers.verdicts import Table


class Form(NamedTuple):
    """The form of an address."""

    pattern: str
    """A regular expression of the part between `://` and the options."""
    said: str
    """A sentence for an address of another form."""


@dataclass(frozen=True, slots=True)
class ChatService:
    """A chat service."""

    plugin: str
    """Apprise's module below `apprise.plugins`, and the class in the module."""
    target: str
    """Required beginning of the request's URL: a regular expression."""
    codes: Table
    """Verdict by the service's error word, or by HTTP status without a known word."""
    read: answers.Read = answers.status_alone
    home: str = ""
    """A page that answers if the service is up; empty: the service is self-hosted, or no such page
    is known."""
    finish: markup.Finish = field(kw_only=True)
    counted: markup.Counted = markup.text_field
    query: str = ""
    """Parameters of the URL that Apprise does not send."""
    is_text_ours: bool = False
    """`finish` writes title and text; Apprise, which makes a file of a long text, gets no text."""
    is_form: bool = False
    """The service takes a form; Apprise may write its fields into the URL."""
    form: Form | None = None
    """Required form of the address, where Apprise reads an unusual host as a name at a public
    server, or drops a part of the address."""


_NO_HOST: Final = r"(?!(?i:localhost|\d+|0x[0-9a-f]+)\.?(?:/|$))"
"""No name of the own machine, and no address of IPv4 as a number."""
_TOPIC_OF_NTFY: Final = Form(
    rf"(?:[^/@]*@)?{_NO_HOST}[-_A-Za-z0-9]{{1,64}}/?",
    "ntfy:// takes a topic of ntfy.sh alone; write ntfys:// for a server of your own",
)
"""https://docs.ntfy.sh/publish/: the characters of a topic. Apprise reads `127.1/t` as `t`."""
_PLACE_OF_ZULIP: Final = Form(
    rf"[^/@]*@{_NO_HOST}[^/:]+/.*",
    "write an organization of zulipchat.com, or a host name without a port, behind the @",
)
"""Apprise drops a port, and reads a host without a dot as an organization."""
_HOOKS: Final = r"https://[^/]+/(.+/)?hooks/"
_TEAMS_SERVICE: Final = ChatService(
    "workflows.NotifyWorkflows",
    r"https://[^/]+/(.+/)?workflows/",
    codes.TEAMS,
    answers.read_paths(code=("error", "code")),
    finish=markup.teams,
    counted=markup.whole_payload,
)

_NTFY_ANSWER: Final = answers.read_paths(code=("code",), message_id=("id",))


def _lark(plugin: str, host: str) -> ChatService:
    """Return Lark or Feishu, which differ in the host."""
    return ChatService(
        plugin,
        rf"https://{host}/open-apis/bot/v2/hook/",
        codes.FEISHU,
        answers.read_number("code", "StatusCode"),  # the second of older servers
        finish=markup.lines_at("content", "text", clean=markup.without_tags_of_lark),
        counted=markup.whole_payload,
    )


SERVICES: Final[Mapping[str, ChatService]] = {
    "slack": ChatService(
        "slack.NotifySlack",
        r"https://(hooks\.slack\.com/|slack\.com/api/chat\.postMessage$)",
        codes.SLACK,
        answers.slack,
        home="https://slack.com/api/api.test",
        finish=markup.slack,
        counted=markup.slack_text,
    ),
    "discord": ChatService(
        "discord.NotifyDiscord",
        r"https://discord\.com/api/webhooks/",
        codes.DISCORD,
        answers.read_paths(code=("code",), message_id=("id",), wait=("retry_after",)),
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
        codes.TELEGRAM,
        answers.telegram,
        home="https://api.telegram.org/",
        finish=markup.telegram,
        counted=markup.telegram_text,
    ),
    "gchat": ChatService(
        "google_chat.NotifyGoogleChat",
        r"https://chat\.googleapis\.com/v1/spaces/",
        codes.GOOGLE,
        answers.read_paths(code=("error", "status"), message_id=("name",)),
        home="https://chat.googleapis.com/",
        finish=markup.google_chat,
    ),
    "mmosts": ChatService(
        "mattermost.NotifyMattermost",
        _HOOKS,
        codes.MATTERMOST,
        answers.read_paths(code=("id",)),
        finish=markup.mattermost,
    ),
    "rockets": ChatService(
        "rocketchat.NotifyRocketChat", _HOOKS, codes.WEBHOOK, finish=markup.rocket_chat
    ),
    "wxteams": ChatService(
        "webexteams.NotifyWebexTeams",
        r"https://api\.ciscospark\.com/v1/webhooks/incoming/",
        codes.WEBHOOK,
        home="https://api.ciscospark.com/v1/ping",
        finish=markup.webex,
        counted=markup.webex_text,
    ),
    "matrixs": ChatService(
        "matrix.base.NotifyMatrix",
        r"https://[^/]+/webhook/(?!None$)[^/]+$",  # the mode `hookshot`: the others log in
        codes.MATRIX,
        finish=markup.matrix,
        counted=markup.whole_payload,
    ),
    "zulip": ChatService(
        "zulip.NotifyZulip",
        r"https://[^/]+/api/v1/messages$",
        codes.ZULIP,
        answers.read_paths(code=("code",), message_id=("id",), wait=("retry-after",)),
        finish=markup.zulip,
        form=_PLACE_OF_ZULIP,
        counted=markup.text_at("content"),
        is_form=True,
    ),
    "nctalks": ChatService(
        "nextcloudtalk.NotifyNextcloudTalk",
        r"https://[^/]+/ocs/v2\.php/apps/spreed/api/v1/chat/[^/]+$",
        codes.NEXTCLOUD,
        answers.read_paths(message_id=("ocs", "data", "id")),
        finish=markup.lines_at("message", clean=markup.plain),
        counted=markup.text_at("message"),
    ),
    "lark": _lark("lark.NotifyLark", r"open\.larksuite\.com"),
    "feishu": _lark("feishu.NotifyFeishu", r"open\.feishu\.cn"),
    "dingtalk": ChatService(
        "dingtalk.NotifyDingTalk",
        # Apprise escapes a signature twice, so a robot's secret is no part of an address
        r"https://oapi\.dingtalk\.com/robot/send\?access_token=[^&]+$",
        codes.DINGTALK,
        answers.read_number("errcode"),
        finish=markup.lines_at("text", "content"),
        counted=markup.whole_payload,
    ),
    "wecombot": ChatService(
        "wecombot.NotifyWeComBot",
        r"https://qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=",
        codes.WECOM,
        answers.wecom,
        finish=markup.lines_at("text", "content", clean=markup.without_tags_of_wecom),
        counted=markup.text_at("text", "content"),
    ),
    "line": ChatService(
        "line.NotifyLine",
        r"https://api\.line\.me/v2/bot/message/push$",
        codes.LINE,
        answers.line,
        finish=markup.line,
        counted=markup.text_at("messages", 0, "text"),
    ),
    "viber": ChatService(
        "viber.NotifyViber",
        r"https://chatapi\.viber\.com/pa/send_message$",
        codes.VIBER,
        answers.read_number("status", message_id=("message_token",)),
        finish=markup.viber,
        counted=markup.text_at("text"),
    ),
    "threema": ChatService(
        "threema.NotifyThreema",
        r"https://msgapi\.threema\.ch/send_simple\?",
        codes.THREEMA,
        answers.threema,
        finish=markup.lines_at("text"),
        is_form=True,
    ),
    "pover": ChatService(
        "pushover.NotifyPushover",
        r"https://api\.pushover\.net/1/messages\.json$",
        codes.PUSHOVER,
        answers.pushover,
        finish=markup.pushover,
        counted=markup.text_at("message"),
        is_form=True,
    ),
    "ntfy": ChatService(
        "ntfy.NotifyNtfy",
        r"https://ntfy\.sh/$",
        codes.NTFY,
        _NTFY_ANSWER,
        home="https://ntfy.sh/v1/health",
        form=_TOPIC_OF_NTFY,
        finish=markup.titled,
        counted=markup.ntfy_text,
        is_text_ours=True,
    ),
    "ntfys": ChatService(
        "ntfy.NotifyNtfy",
        # Apprise takes a host of an unusual form for a topic of the public server
        r"https://(?!ntfy\.sh/)[^/]+/$",
        codes.NTFY,
        _NTFY_ANSWER,
        finish=markup.titled,
        counted=markup.ntfy_text,
        is_text_ours=True,
    ),
    "gotifys": ChatService(
        "gotify.NotifyGotify",
        r"https://[^/]+/(.+/)?message$",
        codes.GOTIFY,
        answers.read_paths(message_id=("id",)),
        finish=markup.titled,
        counted=markup.text_at("message"),
    ),
}
"""Services by scheme of the address."""
