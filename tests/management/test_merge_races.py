"""A merge of recipients beside opt-outs, messages and erasures of the same recipients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from threading import Thread
from typing import Final

import pytest
from django.db import connection, connections, transaction

from notifications.core import clock
from notifications.core.delivery import unsubscribe_links
from notifications.core.delivery.unsubscribe_links import Link
from notifications.core.feedback import preference_changes, unsubscribe
from notifications.core.feedback.preference_changes import PreferenceChange
from notifications.core.feedback.unsubscribe import Choice
from notifications.core.models import Contact, Notification, Preference, Recipient, Suppression
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import erasure, merged_recipients
from notifications.features.audiences.rows import topics
from providers.contract import Channel
from tests.api.conftest import Caller, forget, new_caller

_SPELLINGS: Final = ("opt.out@mailbox.example", "Opt.Out@mailbox.example")


@pytest.fixture
def twins(transactional_db: None) -> tuple[Recipient, Recipient]:  # noqa: ARG001 - asked for by name
    one, two = _recipient("to_1", _SPELLINGS[0]), _recipient("to_2", _SPELLINGS[1])
    for each in (one, two):
        Preference.objects.create(recipient=each)
    return one, two


@pytest.fixture
def api(twins: tuple[Recipient, Recipient]) -> Iterator[Caller]:  # noqa: ARG001 - stored before
    forget()
    yield new_caller()
    forget()


def _recipient(user_id: str, mailbox: str) -> Recipient:
    recipient = Recipient.objects.create(user_id=user_id)
    recipient.contacts.create(channel=Channel.EMAIL, address=mailbox, is_primary=True)
    return recipient


def _merge(*group: Recipient) -> int | None:
    return merged_recipients.merge([each.pk for each in group], by="t")


def _link(recipient: Recipient) -> Link:
    link = Link(recipient_id=recipient.pk, channel=Channel.EMAIL, topic="news")
    token = unsubscribe_links.token_of(link, now=clock.now())
    return unsubscribe_links.read(token, now=clock.now())[0]


def _erasure_of(user_id: str) -> Callable[[], object]:
    return partial(erasure.begin, mode=Mode.LIVE, user_id=user_id, requested_by="t", by="t")


class _Beside(Thread):
    """Work on another connection, while the test has an open transaction."""

    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__()
        self._work = work
        self.faults: list[Exception] = []
        self.start()

    def run(self) -> None:
        try:
            self._work()
        except Exception as error:  # noqa: BLE001 - each fault of the thread fails the test
            self.faults.append(error)
        finally:
            connections.close_all()

    def reach_a_lock(self) -> None:
        """Return once the work waits for a lock, or has ended."""
        while self.is_alive():
            with connection.cursor() as running:
                running.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
                if running.fetchone() != (0,):
                    return

    def end(self) -> None:
        self.join()
        assert not self.faults


@pytest.mark.parametrize("choice", Choice)
def test_a_choice_on_a_page_that_was_opened_before_the_merge_counts(
    twins: tuple[Recipient, Recipient], choice: Choice
) -> None:
    one, two = twins
    link = _link(two)
    assert _merge(*twins) == 1
    undo = unsubscribe.leave(link, choice)
    off = Preference.objects.get(recipient=one).categories_left
    listed = Suppression.objects.filter(undone_at=None).count()
    expected = {Choice.TOPIC: ["news"], Choice.MARKETING: ["marketing"], Choice.CHANNEL: []}
    assert (off, listed) == (expected[choice], int(choice is Choice.CHANNEL))
    unsubscribe.undo(_link(two), undo)
    assert Preference.objects.get(recipient=one).categories_left == []
    assert not Suppression.objects.filter(undone_at=None).exists()


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
def test_preferences_by_the_old_user_id_are_those_of_the_recipient_that_stays(
    api: Caller, twins: tuple[Recipient, Recipient], method: str
) -> None:
    assert _merge(*twins) == 1
    path = "/v1/recipients/to_2/preferences"
    answer = api.send(method, path, {"categories_off": ["marketing"]})
    assert answer.status_code == 200, answer.content
    assert Preference.objects.get(recipient=twins[0]).categories_off == ["marketing"]
    assert api.get(path).json()["categories_off"] == ["marketing"]


@pytest.mark.parametrize("whose", [0, 1])
def test_an_opt_out_during_a_merge_counts(twins: tuple[Recipient, Recipient], whose: int) -> None:
    with transaction.atomic():
        unsubscribe.leave(_link(twins[whose]), Choice.MARKETING)
        merging = _Beside(lambda: _merge(*twins))
        merging.reach_a_lock()
    merging.end()
    assert Preference.objects.get(recipient=twins[0]).categories_left == ["marketing"]


def test_a_choice_during_a_merge_counts(twins: tuple[Recipient, Recipient]) -> None:
    wanted = PreferenceChange(columns={"channels_off": [Channel.EMAIL]})
    with transaction.atomic():
        assert _merge(*twins) == 1
        page = _Beside(
            lambda: preference_changes.change(twins[1], wanted, by="t", by_recipient=True)
        )
        page.reach_a_lock()
    page.end()
    assert Preference.objects.get(recipient=twins[0]).channels_off == [Channel.EMAIL]


def test_a_message_by_the_old_user_id_during_a_merge_reaches_the_recipient_that_stays(
    api: Caller, twins: tuple[Recipient, Recipient]
) -> None:
    body = {
        "user_id": "to_2",
        "type": "T",
        "priority": "P3",
        "content": {"title": "Hi", "body": "Hi"},
    }
    with transaction.atomic():
        assert _merge(*twins) == 1
        sending = _Beside(lambda: api.post("/v1/notifications", body))
        sending.reach_a_lock()
    sending.end()
    assert [each.user_id for each in Notification.objects.all()] == ["to_1"]


def test_an_erasure_during_a_merge_erases_all_of_the_person(
    twins: tuple[Recipient, Recipient],
) -> None:
    one, two = twins
    assert _merge(one, two) == 1
    three = _recipient("to_3", _SPELLINGS[0].upper())
    with transaction.atomic():
        assert _merge(one, three) == 1
        erasing = _Beside(_erasure_of("to_2"))
        erasing.reach_a_lock()
    erasing.end()
    assert not Recipient.objects.exists()
    assert not Contact.objects.exists()


def test_two_erasures_of_one_person_wait_for_each_other(
    twins: tuple[Recipient, Recipient],
) -> None:
    assert _merge(*twins) == 1
    for each in [_Beside(_erasure_of(name)) for name in ("to_1", "to_2")]:
        each.end()
    assert not Recipient.objects.exists()


@pytest.mark.parametrize("is_before", [True, False])
def test_a_topic_left_by_the_old_user_id_is_left(
    twins: tuple[Recipient, Recipient], *, is_before: bool
) -> None:
    topic = topics.ensure(mode=Mode.LIVE, name="news", by="t")
    topics.subscribe(topic, ["to_1", "to_2"])
    with transaction.atomic():
        assert _merge(*twins) == 1
        leaving = _Beside(lambda: topics.unsubscribe(topic, ["to_2"]))
        if is_before:
            leaving.reach_a_lock()
    leaving.end()
    assert topics.unsubscribe(topic, ["to_2", "to_9"]).found == {"to_2"}
    assert not topics.subscribers(topic, after=0, limit=9)
