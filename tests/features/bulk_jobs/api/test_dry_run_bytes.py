"""A dry run tells the bytes of the mails with the files of the template."""

from __future__ import annotations

from dataclasses import replace

import pytest

from notifications.core import clock, conf
from notifications.core.models import Recipient
from notifications.core.rules.lane import Mode
from notifications.core.rules.templates import contents
from notifications.core.store.templates import files, versions
from providers.contract import Channel
from providers.email import mime
from providers.message_parts import Attachment
from tests.api.conftest import Caller
from tests.providers.messages import message

CONTENT = b"T" * 1_000
JOB = {
    "name": "Winter sale",
    "audience": {"everyone": True},
    "type": "PROMO",
    "priority": "P3",
    "template_id": "sale",
}


@pytest.fixture(autouse=True)
def _sale() -> None:
    """A template with a file, two recipients with a mailbox, and one with a number."""
    stored = files.store("text/plain", CONTENT)
    named = {"name": "terms.txt", "type": stored.type, "size": 1_000, "digest": stored.digest}
    words = [
        contents.words(Channel.EMAIL, "en", title="Sale", body="Grüße"),
        contents.words(Channel.SMS, "en", body="Sale"),
    ]
    content = contents.content(words, {"attachments": [named]})
    versions.publish(versions.draft("sale", content, by="t"), by="t")
    addresses = ["a@example.com", "b@example.com", "+4915112345678"]
    for address in addresses:
        channel = Channel.EMAIL if "@" in address else Channel.SMS
        person = Recipient.objects.create(mode=Mode.LIVE, user_id=address)
        person.contacts.create(channel=channel, address=address, is_primary=True)


def test_a_dry_run_tells_the_bytes_of_each_mail_and_of_all(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = caller.post("/v1/bulk-jobs/dry-run", JOB).json()
    sent = [each for sample in told["samples"] for each in sample["messages"]]
    by_channel = {each["channel"]: each for each in sent}
    mail, text = by_channel["email"], by_channel["sms"]
    assert [each["name"] for each in mail["attachments"]] == ["terms.txt"]
    assert (text["attachments"], text["mail_bytes"]) == ([], None)
    file = Attachment(name="terms.txt", media_type="text/plain", content=CONTENT)
    encoded = mime.encode(
        message("a@b.example", Channel.EMAIL, body=mail["body"], html="", attachments=(file,)),
        sender=mime.mailbox("shop@shop.example"),
        to="a@b.example",
        at=clock.now(),
    )
    assert 0 < len(encoded) - mail["mail_bytes"] < 1_000, "the headers"
    assert told["estimate"]["mail_bytes"] == 2 * mail["mail_bytes"]
    small = replace(conf.current(), attachments_max_bytes=999)
    monkeypatch.setattr(conf, "current", lambda: small)
    warned = caller.post("/v1/bulk-jobs/dry-run", JOB).json()["warnings"]
    assert any("takes at most 999" in each["detail"] for each in warned)
