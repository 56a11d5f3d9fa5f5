"""Uploads whose stream ends in the middle, or whose list is deleted meanwhile."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pytest

from notifications.core import clock
from notifications.core.models import ApiKey, Producer, Recipient, RecipientList
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_lists import ListKind, ListState
from notifications.features.audiences import uploads
from notifications.features.audiences.rows import members, recipient_lists
from notifications.features.audiences.rules.parse import ExpressionError, parse
from notifications.features.audiences.rules.upload_lines import InvalidUpload, UploadFormat

pytestmark = pytest.mark.django_db


class Stream:
    """A file of many lines, which does something before its second chunk."""

    def __init__(self, then: Callable[[], None]) -> None:
        self._chunks = [b"user_id\n" + b"u_1\n" * 6_000, b"u_2\n" * 6_000]
        self._then = then

    def read(self, _size: int) -> bytes:
        """Return the next chunk."""
        if len(self._chunks) == 1:
            self._then()
        return self._chunks.pop(0) if self._chunks else b""


@pytest.fixture
def upload() -> RecipientList:
    Recipient.objects.bulk_create(Recipient(user_id=f"u_{n}") for n in range(3))
    return uploads.begin(mode=Mode.LIVE, kind=ListKind.UPLOAD, name="", by="test")


def _is_unused(upload: RecipientList) -> bool:
    with pytest.raises(ExpressionError):
        members.page(parse({"upload": upload.pk}), mode=Mode.LIVE, after=0, until=9**9, limit=9)
    return True


def test_a_cut_connection_leaves_a_failed_upload(upload: RecipientList) -> None:
    def cut() -> None:
        raise ConnectionResetError("the peer is gone")

    with pytest.raises(OSError, match="the peer is gone"):
        uploads.load(upload, Stream(cut), UploadFormat.CSV)
    upload.refresh_from_db()
    assert (upload.state, upload.state_reason) == (ListState.FAILED, uploads.BROKEN_OFF)
    assert upload.members == 1  # of the chunk that was stored, for the sweep
    assert _is_unused(upload)


def test_an_upload_deleted_meanwhile_is_refused(upload: RecipientList) -> None:
    def delete() -> None:
        recipient_lists.delete(upload.pk, now=clock.now())

    with pytest.raises(InvalidUpload, match="was deleted"):
        uploads.load(upload, Stream(delete), UploadFormat.CSV)
    assert _is_unused(upload)


def test_a_process_loads_two_files_at_a_time(upload: RecipientList) -> None:
    def load_others() -> None:
        others = [
            uploads.begin(mode=Mode.LIVE, kind=ListKind.UPLOAD, name="", by="test")
            for _ in range(2)
        ]
        uploads.load(others[0], Stream(lambda: _load_a_third(others[1])), UploadFormat.CSV)

    uploads.load(upload, Stream(load_others), UploadFormat.CSV)
    states = RecipientList.objects.order_by("pk").values_list("state", flat=True)
    assert list(states) == [ListState.READY, ListState.READY, ListState.FAILED]


def test_a_producer_loads_one_file_at_a_time_over_all_processes() -> None:
    mine, other = (Producer.objects.create(name=name) for name in ("mine", "other"))
    for prefix, producer in (("nk_1", mine), ("nk_2", mine), ("nk_3", other)):
        ApiKey.objects.create(
            producer=producer, prefix=prefix, digest=b"x" * 32, mode=Mode.LIVE, scopes=[]
        )
    first = _begin("nk_1", mine)
    with pytest.raises(uploads.UploadsBusy, match="of the producer is running"):
        _begin("nk_2", mine)
    assert RecipientList.objects.count() == 1
    uploads.load(_begin("nk_3", other), Stream(lambda: None), UploadFormat.CSV)
    silent_since = clock.now() - dt.timedelta(minutes=2)  # as after a killed process
    RecipientList.objects.filter(pk=first.pk).update(touched_at=silent_since)
    uploads.load(_begin("nk_2", mine), Stream(lambda: None), UploadFormat.CSV)
    assert _begin("nk_1", mine).state == ListState.LOADING


def test_a_slow_upload_shows_progress_before_its_chunk_is_full(
    upload: RecipientList, later: Callable[[dt.timedelta], None]
) -> None:
    class SlowStream:
        def __init__(self) -> None:
            self.parts = [b"user_id\n", *([b"u_1\n"] * 4)]
            self.stored = 0

        def read(self, _size: int) -> bytes:
            later(dt.timedelta(seconds=10))
            self.stored = RecipientList.objects.get(pk=upload.pk).lines
            return self.parts.pop(0) if self.parts else b""

    stream = SlowStream()
    assert uploads.load(upload, stream, UploadFormat.CSV).lines == 4
    assert stream.stored > 0


def _begin(prefix: str, producer: Producer) -> RecipientList:
    by = f"producer {producer.name} ({prefix})"
    return uploads.begin_upload(mode=Mode.LIVE, name="", by=by, producer_id=producer.pk)


def _load_a_third(upload: RecipientList) -> None:
    with pytest.raises(uploads.UploadsBusy):
        uploads.load(upload, Stream(lambda: None), UploadFormat.CSV)
