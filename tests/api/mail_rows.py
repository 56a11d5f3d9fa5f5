"""Callbacks of the mail services by class, and the classes that a service does not have.

Sources: each service's page about its webhooks, and the tests of django-anymail, which quote them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from notifications.core.rules.states import Status
from tests.api.callback_classes import CallbackClass, CallbackRow, Event
from tests.providers.email.anymail.test_standings import (
    failed,
    mailjet,
    postmark,
    resend,
    suppressed,
    unisender,
)

PERSON: Final = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15"
APPLES_PROXY: Final = "Mozilla/5.0"
FAILED, BOUNCED, DELIVERED = Status.FAILED, Status.BOUNCED, Status.DELIVERED
READ: Final = Status.READ


def rows(
    vendor: str,
    events: Mapping[CallbackClass, Event],
    statuses: Mapping[CallbackClass, Status] | None = None,
) -> list[CallbackRow]:
    """Return the rows of a service; `statuses`: where they differ from those of the classes."""
    return [
        CallbackRow(vendor, said, event, (statuses or {}).get(said))
        for said, event in events.items()
    ]


def _mailgun_visit(event: str, agent: str, *, bot: str = "") -> Event:
    return {"event": event, "client-info": {"user-agent": agent, "bot": bot}}


def _mandrill(reason: str) -> Event:
    return {"event": "reject", "msg": {"state": "rejected", "reject": {"reason": reason}}}


def _sendgrid(type_: str, classification: str) -> Event:
    return {"event": "bounce", "type": type_, "bounce_classification": classification}


def _bounce(type_: str, subtype: str) -> Event:
    return {"Bounce": {"bounceType": type_, "bounceSubType": subtype}}


def _message(type_: str, bounce_class: str = "") -> Event:
    """A message_event of SparkPost."""
    fields = {"type": type_} | ({"bounce_class": bounce_class} if bounce_class else {})
    return {"message_event": fields}


def _track(type_: str, agent: str, *, is_prefetched: bool = False) -> Event:
    """A track_event of SparkPost."""
    return {
        "track_event": {"type": type_, "user_agent": agent, "is_prefetched": is_prefetched},
    }


MAIL: Final = [
    *rows(
        "brevo",
        {
            CallbackClass.DELIVERED: {"event": "delivered"},
            CallbackClass.DEFERRED: {"event": "deferred"},
            CallbackClass.DEAD: {"event": "hard_bounce"},
            CallbackClass.FULL: {"event": "soft_bounce"},
            CallbackClass.BLOCKED: {"event": "blocked"},
            CallbackClass.OUR_FAULT: {"event": "error"},
            CallbackClass.COMPLAINED: {"event": "spam"},
            CallbackClass.OPTED_OUT: {"event": "unsubscribed"},
            CallbackClass.OPENED: {"event": "unique_opened", "user_agent": PERSON},
            CallbackClass.CLICKED: {"event": "click", "user_agent": PERSON},
            CallbackClass.MACHINE_FLAGGED: {"event": "unique_proxy_open"},
            CallbackClass.MACHINE_NAMED: {"event": "click", "user_agent": APPLES_PROXY},
        },
        {CallbackClass.BLOCKED: FAILED},
    ),
    *rows(
        "mailgun",
        {
            CallbackClass.DELIVERED: {"event": "delivered"},
            CallbackClass.DEFERRED: {
                "event": "failed",
                "severity": "temporary",
                "reason": "generic",
            },
            CallbackClass.DEAD: failed("bounce", code=550, **{"bounce-type": "hard"}),
            CallbackClass.FULL: failed("bounce", code=552, **{"enhanced-code": "5.2.2"}),
            CallbackClass.BLOCKED: failed("espblock", code=550),
            CallbackClass.OUR_FAULT: {"event": "rejected", "reject": {"reason": "Sandbox domain"}},
            CallbackClass.SUPPRESSED: failed("suppress-bounce", code=605),
            CallbackClass.COMPLAINED: {"event": "complained"},
            CallbackClass.COMPLAINED_BEFORE: failed("suppress-complaint", code=607),
            CallbackClass.OPTED_OUT: {"event": "unsubscribed"},
            CallbackClass.OPTED_OUT_BEFORE: failed("suppress-unsubscribe", code=606),
            CallbackClass.OPENED: _mailgun_visit("opened", PERSON),
            CallbackClass.CLICKED: _mailgun_visit("clicked", PERSON),
            CallbackClass.MACHINE_FLAGGED: _mailgun_visit("opened", PERSON, bot="apple"),
            CallbackClass.MACHINE_NAMED: _mailgun_visit("opened", APPLES_PROXY),
        },
    ),
    *rows(
        "mailjet",
        {
            CallbackClass.DELIVERED: {"event": "sent"},
            CallbackClass.DEFERRED: mailjet("greylisted", hard=False),
            CallbackClass.DEAD: mailjet("user unknown", hard=True),
            CallbackClass.FULL: mailjet("quota exceeded", hard=False),
            CallbackClass.BLOCKED: mailjet("content blocked", hard=False),
            CallbackClass.OUR_FAULT: mailjet("sender blocked", hard=None, event="blocked"),
            CallbackClass.COMPLAINED: {"event": "spam", "source": "JMRPP"},
            CallbackClass.COMPLAINED_BEFORE: mailjet("spam reporter", hard=None, event="blocked"),
            CallbackClass.OPTED_OUT: {"event": "unsub", "agent": PERSON},
            CallbackClass.OPENED: {"event": "open", "agent": PERSON},
            CallbackClass.CLICKED: {"event": "click", "agent": PERSON},
            CallbackClass.MACHINE_NAMED: {"event": "open", "agent": APPLES_PROXY},
        },
        {CallbackClass.COMPLAINED_BEFORE: FAILED},
    ),
    *rows(
        "mailtrap",
        {
            CallbackClass.DELIVERED: {"event": "delivery"},
            CallbackClass.DEFERRED: {"event": "soft bounce", "bounce_category": "unavailable"},
            CallbackClass.DEAD: {
                "event": "bounce",
                "response_code": 550,
                "bounce_category": "hard",
            },
            CallbackClass.FULL: {"event": "bounce", "bounce_category": "mailboxfull"},
            CallbackClass.BLOCKED: {"event": "bounce", "bounce_category": "spam"},
            CallbackClass.OUR_FAULT: {"event": "reject", "reason": "other"},
            CallbackClass.COMPLAINED: {"event": "spam"},
            CallbackClass.OPTED_OUT: {"event": "unsubscribe", "user_agent": PERSON},
            CallbackClass.OPENED: {"event": "open", "user_agent": PERSON},
            CallbackClass.CLICKED: {"event": "click", "user_agent": PERSON},
            CallbackClass.MACHINE_NAMED: {"event": "open", "user_agent": APPLES_PROXY},
        },
    ),
    *rows(
        "mandrill",
        {
            CallbackClass.DELIVERED: {"event": "delivered", "msg": {"state": "delivered"}},
            CallbackClass.DEFERRED: {"event": "deferral", "msg": {"state": "deferred"}},
            CallbackClass.DEAD: {
                "event": "hard_bounce",
                "msg": {"bounce_description": "bad_mailbox"},
            },
            CallbackClass.FULL: {
                "event": "soft_bounce",
                "msg": {"bounce_description": "mailbox_full"},
            },
            CallbackClass.BLOCKED: {
                "event": "soft_bounce",
                "msg": {"bounce_description": "general"},
            },
            CallbackClass.OUR_FAULT: _mandrill("unsigned"),
            CallbackClass.SUPPRESSED: _mandrill("hard-bounce"),
            CallbackClass.COMPLAINED: {"event": "spam", "msg": {"state": "spam"}},
            CallbackClass.COMPLAINED_BEFORE: _mandrill("spam"),
            CallbackClass.OPTED_OUT: {"event": "unsub", "msg": {"state": "unsub"}},
            CallbackClass.OPTED_OUT_BEFORE: _mandrill("unsub"),
            CallbackClass.REMOVED: {"type": "blacklist", "action": "remove"},
            CallbackClass.OPENED: {"event": "open", "user_agent": PERSON, "msg": {}},
            CallbackClass.CLICKED: {"event": "click", "user_agent": PERSON, "msg": {}},
            CallbackClass.MACHINE_NAMED: {"event": "open", "user_agent": APPLES_PROXY, "msg": {}},
        },
        dict.fromkeys(
            (
                CallbackClass.SUPPRESSED,
                CallbackClass.COMPLAINED_BEFORE,
                CallbackClass.OPTED_OUT_BEFORE,
            ),
            FAILED,
        ),
    ),
    *rows(
        "postal",
        {
            CallbackClass.DELIVERED: {"status": "Sent"},
            CallbackClass.DEFERRED: {"status": "SoftFail"},
            CallbackClass.BLOCKED: {"bounce": {"id": 2, "subject": "Undelivered Mail"}},
            CallbackClass.OUR_FAULT: {"status": "HardFail", "details": "relay access denied"},
            CallbackClass.OPENED: {"event": "MessageLoaded", "user_agent": PERSON},
            CallbackClass.CLICKED: {"url": "https://shop.example/", "user_agent": PERSON},
            CallbackClass.MACHINE_NAMED: {
                "url": "https://shop.example/",
                "user_agent": "axios/1.6",
            },
        },
    ),
    *rows(
        "postmark",
        {
            CallbackClass.DELIVERED: {"RecordType": "Delivery"},
            CallbackClass.DEFERRED: postmark("Transient"),
            CallbackClass.DEAD: postmark("HardBounce"),
            CallbackClass.FULL: postmark("SoftBounce"),
            CallbackClass.BLOCKED: postmark("SpamNotification"),
            CallbackClass.OUR_FAULT: postmark("DMARCPolicy"),
            CallbackClass.SUPPRESSED: suppressed("HardBounce"),
            CallbackClass.COMPLAINED: postmark("SpamComplaint", "SpamComplaint"),
            CallbackClass.COMPLAINED_BEFORE: suppressed("SpamComplaint"),
            CallbackClass.OPTED_OUT: suppressed("ManualSuppression"),
            CallbackClass.REMOVED: {
                "RecordType": "SubscriptionChange",
                "MessageID": None,
                "Origin": "Customer",
                "SuppressSending": False,
                "SuppressionReason": None,
                "Metadata": {},
            },
            CallbackClass.OPENED: {"RecordType": "Open", "UserAgent": PERSON},
            CallbackClass.CLICKED: {"RecordType": "Click", "UserAgent": PERSON},
            CallbackClass.MACHINE_NAMED: {"RecordType": "Open", "UserAgent": APPLES_PROXY},
        },
        {CallbackClass.COMPLAINED_BEFORE: READ},
    ),
    *rows(
        "resend",
        {
            CallbackClass.DELIVERED: {"type": "email.delivered"},
            CallbackClass.DEFERRED: {"type": "email.delivery_delayed"},
            CallbackClass.DEAD: resend("Permanent", "General"),
            CallbackClass.FULL: resend("Transient", "MailboxFull"),
            CallbackClass.BLOCKED: resend("Transient", "ContentRejected"),
            CallbackClass.OUR_FAULT: {
                "type": "email.failed",
                "data": {"failed": {"reason": "reached_daily_quota"}},
            },
            CallbackClass.SUPPRESSED: {
                "type": "email.suppressed",
                "data": {"suppressed": {"type": "OnAccountSuppressionList"}},
            },
            CallbackClass.COMPLAINED: {"type": "email.complained"},
            CallbackClass.OPENED: {"type": "email.opened"},
            CallbackClass.CLICKED: {
                "type": "email.clicked",
                "data": {"click": {"userAgent": PERSON}},
            },
            CallbackClass.MACHINE_NAMED: {
                "type": "email.clicked",
                "data": {"click": {"userAgent": APPLES_PROXY}},
            },
        },
    ),
    *rows(
        "sendgrid",
        {
            CallbackClass.DELIVERED: {"event": "delivered", "response": "250 OK"},
            CallbackClass.DEFERRED: {"event": "deferred", "response": "400 try again later"},
            CallbackClass.DEAD: _sendgrid("bounce", "Invalid Address"),
            CallbackClass.FULL: _sendgrid("blocked", "Mailbox Unavailable"),
            CallbackClass.BLOCKED: _sendgrid("blocked", "Reputation"),
            CallbackClass.OUR_FAULT: {"event": "dropped", "reason": "Invalid SMTPAPI header"},
            CallbackClass.SUPPRESSED: {"event": "dropped", "reason": "Bounced Address"},
            CallbackClass.COMPLAINED: {"event": "spamreport"},
            CallbackClass.COMPLAINED_BEFORE: {
                "event": "dropped",
                "reason": "Spam Reporting Address",
            },
            CallbackClass.OPTED_OUT: {"event": "unsubscribe"},
            CallbackClass.OPTED_OUT_BEFORE: {"event": "dropped", "reason": "Unsubscribed Address"},
            CallbackClass.LEFT_GROUP: {"event": "group_unsubscribe", "asm_group_id": 10},
            CallbackClass.REMOVED: {"event": "group_resubscribe", "asm_group_id": 10},
            CallbackClass.OPENED: {"event": "open", "useragent": PERSON, "sg_machine_open": False},
            CallbackClass.CLICKED: {"event": "click", "useragent": PERSON},
            CallbackClass.MACHINE_FLAGGED: {
                "event": "open",
                "useragent": PERSON,
                "sg_machine_open": True,
            },
            CallbackClass.MACHINE_NAMED: {"event": "open", "useragent": APPLES_PROXY},
        },
        dict.fromkeys(
            (
                CallbackClass.SUPPRESSED,
                CallbackClass.COMPLAINED_BEFORE,
                CallbackClass.OPTED_OUT_BEFORE,
            ),
            FAILED,
        ),
    ),
    *rows(
        "ses",
        {
            CallbackClass.DELIVERED: {"Delivery": {}},
            CallbackClass.DEFERRED: {"DeliveryDelay": {"delayType": "MailboxFull"}},
            CallbackClass.DEAD: _bounce("Permanent", "NoEmail"),
            CallbackClass.FULL: _bounce("Transient", "MailboxFull"),
            CallbackClass.BLOCKED: _bounce("Transient", "ContentRejected"),
            CallbackClass.OUR_FAULT: {"Reject": {"reason": "Bad content"}},
            CallbackClass.SUPPRESSED: _bounce("Permanent", "OnAccountSuppressionList"),
            CallbackClass.COMPLAINED: {"Complaint": {"complaintFeedbackType": "abuse"}},
            CallbackClass.COMPLAINED_BEFORE: {
                "Complaint": {"complaintSubType": "OnAccountSuppressionList"}
            },
            CallbackClass.OPTED_OUT_BEFORE: _bounce("Permanent", "UnsubscribedRecipient"),
            CallbackClass.OPENED: {"Open": {"userAgent": PERSON}},
            CallbackClass.CLICKED: {"Click": {"userAgent": PERSON}},
            CallbackClass.MACHINE_NAMED: {"Open": {"userAgent": APPLES_PROXY}},
        },
        {CallbackClass.COMPLAINED: DELIVERED},
    ),
    *rows(
        "sparkpost",
        {
            CallbackClass.DELIVERED: _message("delivery"),
            CallbackClass.DEFERRED: _message("delay", "20"),
            CallbackClass.DEAD: _message("bounce", "10"),
            CallbackClass.FULL: _message("out_of_band", "22"),
            CallbackClass.BLOCKED: _message("bounce", "51"),
            CallbackClass.OUR_FAULT: _message("policy_rejection", "25"),
            CallbackClass.COMPLAINED: _message("spam_complaint"),
            CallbackClass.OPTED_OUT: {"unsubscribe_event": {"type": "list_unsubscribe"}},
            CallbackClass.REMOVED: _message("out_of_band", "80"),
            CallbackClass.OPENED: _track("open", PERSON),
            CallbackClass.CLICKED: _track("click", PERSON),
            CallbackClass.MACHINE_FLAGGED: _track("open", PERSON, is_prefetched=True),
            CallbackClass.MACHINE_NAMED: _track("open", APPLES_PROXY),
        },
    ),
    *rows(
        "unisender_go",
        {
            CallbackClass.DELIVERED: {"status": "delivered"},
            CallbackClass.DEFERRED: {
                "status": "soft_bounced",
                "delivery_info": {"delivery_status": "err_will_retry"},
            },
            CallbackClass.DEAD: unisender("err_user_unknown"),
            CallbackClass.FULL: unisender("err_mailbox_full"),
            CallbackClass.BLOCKED: unisender("err_spam_rejected"),
            CallbackClass.OUR_FAULT: unisender("err_spam_skipped"),
            CallbackClass.COMPLAINED: {"status": "spam"},
            CallbackClass.OPTED_OUT: {"status": "unsubscribed"},
            CallbackClass.OPTED_OUT_BEFORE: unisender("err_unsubscribed"),
            CallbackClass.REMOVED: {"status": "subscribed"},
            CallbackClass.OPENED: {"status": "opened", "delivery_info": {"user_agent": PERSON}},
            CallbackClass.CLICKED: {"status": "clicked", "delivery_info": {"user_agent": PERSON}},
            CallbackClass.MACHINE_NAMED: {
                "status": "opened",
                "delivery_info": {"user_agent": APPLES_PROXY},
            },
        },
        {CallbackClass.OUR_FAULT: BOUNCED},
    ),
]
