"""Budget e-mails: a P3 text message without money goes by e-mail.

    lock the notification -> suppress the text message (`budget_to_email`) -> insert the e-mail

One transaction. The claim's token guards the text message, so a message goes by e-mail once. The
message must have a text for e-mail, the producer's channels must allow e-mail, the notification
must not have used e-mail before, and the recipient must have a mailbox and accept the topic there.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from notifications.core.delivery import fall_back
from notifications.core.delivery.batch import Batch
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules.outcomes import Decision
from notifications.core.rules.reasons import Reason
from notifications.core.rules.transitions import SUPPRESS
from notifications.core.store.postgres import db, transitions
from notifications.core.store.postgres.inserts import NewDelivery
from notifications.core.store.postgres.transitions import UnderClaim
from notifications.core.store.rate_limits import frequency_caps
from providers.contract import Channel


def send_by_email(batch: Batch, deliveries: Sequence[ClaimedDelivery]) -> set[UUID]:
    """Replace text messages by e-mails if possible; returns the replaced deliveries.

    Safe to run twice: a replaced delivery is suppressed and no claim takes it again.
    """

    def work() -> dict[UUID, NewDelivery]:
        new = fall_back.on_channel({each.delivery.id for each in deliveries}, channel=Channel.EMAIL)
        decision = Decision(transition=SUPPRESS, reason=Reason.BUDGET_TO_EMAIL)
        moved = transitions.write([(each, decision) for each in new], UnderClaim(batch.token))
        going = {text: mail for text, mail in new.items() if text in moved}
        fall_back.insert(list(going.values()))
        frequency_caps.refund_after_commit(going.keys())
        return going

    replaced = set(db.in_transaction(work))
    batch.leave(replaced)
    return replaced
