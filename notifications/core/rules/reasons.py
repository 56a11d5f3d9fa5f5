"""Reasons of statuses: one enum for the database, the API, metrics, admin and docs.

A provider's code is not a reason: an event and an attempt carry the code in their detail.
"""

from __future__ import annotations

from typing import Final

from notifications.core.rules.described import Described


class Reason(Described):
    """The reason of a status; `sentence` explains it to an operator."""

    # Holds: the delivery waits and no attempt is spent.
    SCHEDULED = "scheduled", "The producer asked for this delivery time."
    RESCHEDULED = "rescheduled", "The delivery time was changed."
    DO_NOT_DISTURB = "do_not_disturb", "The recipient set do-not-disturb until a given time."
    QUIET_HOURS = "quiet_hours", "The recipient is in quiet hours."
    PRODUCERS_NIGHT = "producers_night", "The timezone is unknown, and it is the producer's night."
    CAP = "cap", "The recipient has received as many messages as the frequency cap allows."
    DIGEST = (
        "digest",
        "The recipient chose a daily or weekly digest for this topic.",
    )
    BATCH_WINDOW = (
        "batch_window",
        "The message waits for the batch window of its type, to be merged with others.",
    )
    CAP_UNKNOWN = "cap_unknown", "The state store is away, so the frequency cap cannot be checked."
    ORDERING = "ordering", "An earlier message with the same ordering key goes first."
    BREAKER = "breaker", "The provider fails; calls are paused until a probe succeeds."
    ENDPOINT = (
        "endpoint",
        "The address's endpoint fails; calls are paused until a probe succeeds.",
    )
    ENDPOINT_BUSY = "endpoint_busy", "The endpoint has as many open calls as it can answer."
    PROVIDER_BUCKET = "provider_bucket", "The provider's rate limit is used up for the moment."
    NO_PROVIDER = "no_provider", "No configured provider takes the channel, or the address."
    PROVIDER_MISCONFIGURED = "provider_misconfigured", "The provider refuses our account."
    BUDGET = "budget", "The budget of the day is spent."
    SMS_CEILING = (
        "sms_ceiling",
        "Too many P0 and P1 SMS go to the number, its prefix or its country.",
    )
    PAUSED = "paused", "An operator's switch holds the producer, type, template or bulk job."
    CHANNEL_PAUSED = "channel_paused", "An operator's switch holds the channel, provider or lane."

    # Back to the queue.
    RELEASED = "released", "The delivery time has come."
    HOLD_OVER = "hold_over", "The hold has ended."
    RETRY_DUE = "retry_due", "The time of the retry has come."
    WORKER_LOST = "worker_lost", "The worker died while it held the delivery."
    CLAIM_RETURNED = "claim_returned", "Returned before the call began; no attempt was spent."
    TASK_FAILED = "task_failed", "The worker's task raised an error before the call began."
    RESENT_ONCE = "resent_once", "The first call got no answer, so the message is sent once more."
    REPLAYED = "replayed", "An operator replayed the dead letter."

    # The first event.
    ACCEPTED = "accepted", "The service accepted the notification."

    # Retries.
    THROTTLED = "throttled", "The provider asked for fewer messages; no attempt was spent."
    UNAVAILABLE = "unavailable", "The provider was unavailable; nothing was sent."
    UNANSWERED = "unanswered", "The provider did not answer: the message may have been sent."

    FAILED_OVER = "failed_over", "The call failed, and the same worker calls the next provider."
    CALL_ENDED = (
        "call_ended",
        "The call ended after a receipt or another worker had set the status of the delivery.",
    )

    # Sent, and what became of it.
    ACCEPTED_BEFORE_CRASH = (
        "accepted_before_crash",
        "The worker died after the provider had accepted the message.",
    )
    ACCEPTED_AFTER_LEASE = "accepted_after_lease", "The provider accepted after the lease's end."
    RECEIPT_DELIVERED = "receipt_delivered", "The provider reports delivery."
    RECEIPT_READ = "receipt_read", "The provider reports that the message was opened."
    RECEIPT_BOUNCED = "receipt_bounced", "The provider reports a bounce."
    RECEIPT_FAILED = "receipt_failed", "The provider reports a failure after acceptance."
    COST_SETTLED = "cost_settled", "The provider's receipt settled the cost of the call."
    CLIENT_RECEIVED = "client_received", "The recipient's app reports that the message arrived."
    CLIENT_DISMISSED = (
        "client_dismissed",
        "The recipient's app reports that the message was shown and dismissed.",
    )
    CLIENT_OPENED = "client_opened", "The recipient's app reports that the message was opened."
    CLIENT_CLICKED = (
        "client_clicked",
        "The recipient's app reports a click on a link or button of the message.",
    )
    INBOX_SEEN = "inbox_seen", "The recipient has seen the message in the inbox."
    INBOX_READ = "inbox_read", "The recipient has read the message in the inbox."
    INBOX_ACTION = "inbox_action", "The recipient pressed a button of the message in the inbox."
    OPERATOR = "operator", "An operator resolved the delivery by hand."

    WITHDRAWING = "withdrawing", "The device is told to remove the message."
    WITHDRAWN = "withdrawn", "The provider accepted the removal of the message from the device."
    NOT_WITHDRAWN = "not_withdrawn", "The message was not removed from the device."

    UNCONFIRMED = "unconfirmed", "No receipt came in the confirm window; the next channel follows."
    NOT_CONFIRMED = (
        "not_confirmed",
        "No receipt came in the confirm window, and no further channel can be used.",
    )
    ESCALATED = "escalated", "The channel failed; the next channel of the chain follows."
    FALLBACK = "fallback", "The channel before failed or was not confirmed."

    # Never sent.
    CONFIRMED_ELSEWHERE = (
        "confirmed_elsewhere",
        "The message reached the recipient on another channel before this channel was used.",
    )
    BUDGET_TO_EMAIL = (
        "budget_to_email",
        "The SMS budget of the day is spent, and the message goes by e-mail.",
    )
    CANCELLED = "cancelled", "The producer cancelled the notification."
    OPTED_OUT = "opted_out", "The recipient switched off this channel, category or type."
    NO_CONTACT = "no_contact", "The recipient has no valid address on this channel."
    CAPPED = "capped", "The frequency cap is reached, and this priority is not kept."
    DIGESTED = "digested", "A digest replaces the message; the event's detail names the digest."
    STALE = (
        "stale",
        "The lane was too far behind, and the marketing message had waited too long.",
    )
    SUPPRESSION_LIST = "suppression_list", "The address is on the suppression list."
    COUNTRY_NOT_ALLOWED = (
        "country_not_allowed",
        "The producer may not send SMS to the country of the number.",
    )
    NOT_ALLOWED = "not_allowed", "NOTIFY_ALLOWED_RECIPIENTS does not include this recipient."
    TTL_PASSED = "ttl_passed", "The time to live ended before the message could be sent."
    TTL_PASSED_IN_DO_NOT_DISTURB = (
        "ttl_passed_in_do_not_disturb",
        "The time to live ended during do-not-disturb.",
    )
    TTL_PASSED_IN_QUIET_HOURS = "ttl_passed_in_quiet_hours", "The TTL ended during quiet hours."
    TTL_PASSED_IN_PRODUCERS_NIGHT = (
        "ttl_passed_in_producers_night",
        "The time to live ended during the producer's night.",
    )
    TTL_PASSED_WHILE_PAUSED = (
        "ttl_passed_while_paused",
        "The time to live ended while an operator's switch held the message.",
    )
    RETENTION = "retention", "The retention period ended while the delivery was open."

    # Failed.
    PERMANENT = "permanent", "The provider rejected the message for good."
    SENDER_REFUSED = "sender_refused", "The provider does not send from the brand's sender."
    TEMPLATE_REFUSED = (
        "template_refused",
        "The provider does not accept the template of the message.",
    )
    IN_SANDBOX = (
        "in_sandbox",
        "The account at the provider is in its sandbox, and the address is not on the list.",
    )
    RENDER_ERROR = "render_error", "The template could not be rendered."
    POISON = "poison", "Five claims in a row ended by the death of the worker or by an error."
    RETRIES_EXHAUSTED = "retries_exhausted", "Every attempt of the retry policy failed."
    TTL_EXCEEDED = "ttl_exceeded", "The time to live ends before the next attempt."
    CLOSED_UNANSWERED = "closed_unanswered", "No answer and no receipt in 24 hours: perhaps sent."


REFUSED: Final = frozenset({
    Reason.PERMANENT,
    Reason.SENDER_REFUSED,
    Reason.TEMPLATE_REFUSED,
    Reason.IN_SANDBOX,
    Reason.RECEIPT_FAILED,
})
"""Reasons of `failed` for which the provider refused the message itself.

A replay has a new idempotency key: with the old key, the provider would repeat its answer or drop
the message as a duplicate."""
RECIPIENTS_HOLDS: Final = (
    Reason.DO_NOT_DISTURB,
    Reason.QUIET_HOURS,
    Reason.PRODUCERS_NIGHT,
    Reason.CAP,
    Reason.DIGEST,
)
"""Holds by the settings of the recipient, which a change of the settings can end."""


def sentence(reason: str) -> str:
    """Explain a stored reason; an unknown reason is returned as it is."""
    return _SENTENCES.get(reason, reason)


_SENTENCES: Final = {str(each): each.sentence for each in Reason}
