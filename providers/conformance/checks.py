"""The checks of the contract; each takes a new `Subject` and raises ContractBroken."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from time import monotonic
from typing import Final
from unittest.mock import patch

from providers import mailboxes
from providers.conformance.subject import (
    ABOUT_ITS_ADDRESS,
    EXPECTED,
    Act,
    Subject,
    require,
)
from providers.contract import (
    Accepted,
    Channel,
    NotStarted,
    Outcome,
    ReceiptRequest,
    Rejected,
    Throttled,
    Unanswered,
    Unavailable,
)
from providers.errors import InvalidSignature, NoReceipts
from providers.transport import Reply, Request, Transport

SHORT: Final = timedelta(milliseconds=1500)
"""Deadline of sends that are meant to run into it."""

MARGIN: Final = timedelta(seconds=10)
"""Allowed delay of a result after the deadline; a busy machine may stop a process for seconds."""


def accepts_one_message(subject: Subject) -> None:
    """Check a batch with a single message."""
    _expect(subject, Act.ACCEPT)


def accepts_no_message(subject: Subject) -> None:
    """Check an empty batch."""
    require(subject.send([]) == [], "an empty batch has no results")


def accepts_the_largest_batch(subject: Subject) -> None:
    """Check the results of `batch_limit` messages."""
    results = subject.send(subject.messages(subject.provider.capabilities.batch_limit))
    for result in results:
        _require_kind(result.outcome, Accepted)


def answers_half_a_character_alone(subject: Subject) -> None:
    """Check that half of a surrogate pair raises no error and affects no other message."""
    subject.server.act(Act.ACCEPT)
    before, broken, after = subject.messages(3)
    broken = replace(broken, title="Half \ud83c", body="Half \ud83c a character")
    found = {each.delivery_id: each.outcome for each in subject.send([before, broken, after])}
    for whole in (before, after):
        _require_kind(found[whole.delivery_id], Accepted)
    _require_kind(found[broken.delivery_id], Accepted, Rejected)


def translates_every_answer(subject: Subject) -> None:
    """Check the outcomes of refusals and failures."""
    for act in (Act.REJECT, Act.THROTTLE, Act.UNAVAILABLE, Act.BAD_CREDENTIALS):
        _expect(subject, act)


def passes_retry_after_on(subject: Subject) -> None:
    """Check that a vendor's own waiting time reaches the caller."""
    outcome = _expect(subject, Act.THROTTLE)
    require(
        isinstance(outcome, Throttled) and outcome.retry_after == subject.server.retry_after,
        f"retry_after must be {subject.server.retry_after}",
    )


def is_unsure_when_the_connection_is_cut(subject: Subject) -> None:
    """Check that a message without an answer counts as unanswered, on new and used connections."""
    _expect(subject, Act.CUT)
    _expect(subject, Act.ACCEPT)
    before = len(subject.server.keys)
    _expect(subject, Act.CUT)
    require(len(subject.server.keys) == before + 1, "it must not be sent twice in secret")


def is_sure_when_the_connection_is_refused(subject: Subject) -> None:
    """Check that a refused connection means "not sent", and that later calls succeed."""
    subject.server.stop()
    _require_kind(subject.outcome(), Unavailable)
    subject.server.start()
    _expect(subject, Act.ACCEPT)


def recovers_when_the_server_restarts(subject: Subject) -> None:
    """Check that dead idle connections are detected before a send."""
    _expect(subject, Act.ACCEPT)
    subject.server.stop()
    subject.server.start()
    _expect(subject, Act.ACCEPT)


def keeps_its_deadline(subject: Subject) -> None:
    """Check that a hanging server costs the deadline, and waiting messages half of the deadline."""
    subject.server.act(Act.HANG)
    started = monotonic()
    results = subject.send(
        subject.messages(subject.provider.capabilities.batch_limit), deadline=SHORT
    )
    took = timedelta(seconds=monotonic() - started)
    require(took < 1.5 * SHORT + MARGIN, f"took {took}, deadline {SHORT}")
    kinds = {type(result.outcome) for result in results}
    require(kinds <= {Unanswered, Unavailable, NotStarted}, f"unexpected outcomes {kinds}")
    require(Unanswered in kinds, "what was read by the server is Unanswered")
    sent = set(subject.server.keys)
    sure = sum(isinstance(result.outcome, Unavailable | NotStarted) for result in results)
    require(sure + len(sent) <= len(results), "a message that was sent is told as not sent")


def keeps_the_key_on_every_try(subject: Subject) -> None:
    """Check that the vendor, or the receiver, can recognise a repeat."""
    batch = subject.messages(1)
    for act in (Act.ACCEPT, Act.UNAVAILABLE, Act.ACCEPT):
        subject.server.act(act)
        subject.send(batch)
    _expect(subject, Act.ACCEPT)
    *repeats, other = subject.server.keys
    require(len(set(repeats)) == 1, "the same message must carry the same key")
    require(other not in repeats, "another message must carry another key")


def serves_several_threads(subject: Subject) -> None:
    """Check that threads share an adapter without exchanged results."""
    batches = [subject.messages(10) for _ in range(8)]
    with ThreadPoolExecutor(max_workers=len(batches)) as threads:
        for results in threads.map(subject.send, batches):
            for result in results:
                _require_kind(result.outcome, Accepted)


def keeps_secrets(subject: Subject) -> None:
    """Check that no secret, address or text is in a log, and no address in an outcome."""
    lines: list[str] = []
    handler = _Listener(lines)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        acts = (Act.ACCEPT, Act.REJECT, Act.BAD_CREDENTIALS, Act.CUT)
        outcomes = [_expect(subject, act) for act in acts]
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    said = [*lines, repr(outcomes), repr(subject.provider)]
    for secret in (*subject.secrets, subject.address, "A private"):
        require(not any(secret in line for line in said), "a secret, address or text leaked")


def believes_no_stranger(subject: Subject) -> None:
    """Check that unsigned callbacks, and all callbacks without receipts, are refused."""
    expected = InvalidSignature if subject.provider.capabilities.gives_receipts else NoReceipts
    forged = ReceiptRequest(url="https://notify.example/v1/receipts", headers={}, body=b"{}")
    was_refused = False
    try:
        subject.provider.parse_receipt(forged)
    except expected:
        was_refused = True
    require(was_refused, "the adapter accepted a callback without a signature")


def lets_urgent_messages_begin_first(subject: Subject) -> None:
    """Check that an urgent message's request is urgent, if the adapter uses the transport."""
    requests: list[Request] = []
    send = Transport.send

    def note(
        transport: Transport,
        given: Sequence[Request],
        *,
        deadline: timedelta,
        begins: Sequence[Callable[[], None] | None] = (),
    ) -> Iterator[tuple[int, Reply]]:
        requests.extend(given)
        return send(transport, given, deadline=deadline, begins=begins)

    subject.server.act(Act.ACCEPT)
    with patch.object(Transport, "send", note):
        subject.send([replace(each, urgent=True) for each in subject.messages(1)])
    is_told = not requests or any(each.urgent for each in requests)
    require(is_told, "the request of an urgent message must be urgent")


class _Listener(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__(level=logging.DEBUG)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record))


def names_the_sender_of_its_setting(subject: Subject) -> None:
    """A provider of e-mail tells the address of its From header, in the canonical form."""
    if subject.channel is Channel.EMAIL:
        told = subject.provider.capabilities.sender_address
        require(bool(told), "Capabilities.sender_address is empty")
        require(told == mailboxes.check(told), f"{told} is not in the form of mailboxes.check")


CHECKS: Final[Sequence[Callable[[Subject], None]]] = (
    accepts_one_message,
    accepts_no_message,
    accepts_the_largest_batch,
    answers_half_a_character_alone,
    translates_every_answer,
    passes_retry_after_on,
    is_unsure_when_the_connection_is_cut,
    is_sure_when_the_connection_is_refused,
    recovers_when_the_server_restarts,
    keeps_its_deadline,
    keeps_the_key_on_every_try,
    serves_several_threads,
    lets_urgent_messages_begin_first,
    keeps_secrets,
    believes_no_stranger,
    names_the_sender_of_its_setting,
)


def _expect(subject: Subject, act: Act) -> Outcome:
    """Set the fake's behaviour and require the matching outcome.

    For wrong credentials an adapter may answer Rejected with `may_be_misconfigured`, if the
    vendor's answer can also mean the one address.
    """
    subject.server.act(act)
    outcome = subject.outcome()
    is_ambiguous = isinstance(outcome, Rejected) and outcome.may_be_misconfigured
    if act is Act.BAD_CREDENTIALS and is_ambiguous:
        return outcome
    if subject.provider.capabilities.endpoint_of and act in {Act.REJECT, Act.BAD_CREDENTIALS}:
        _require_kind(outcome, *ABOUT_ITS_ADDRESS)
    else:
        _require_kind(outcome, EXPECTED[act])
    return outcome


def _require_kind(outcome: Outcome, *kinds: type[Outcome]) -> None:
    expected = " or ".join(kind.__name__ for kind in kinds)
    require(isinstance(outcome, kinds), f"expected {expected}, got {outcome}")
