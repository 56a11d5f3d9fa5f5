"""A folder and a bucket take whole files, give them back, and say when they cannot."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from notifications.core.models import ArchiveFile
from notifications.core.store.postgres import partitions
from notifications.core.store.postgres.past_days import Lease
from notifications.features.archive import days, targets
from notifications.features.archive.targets import ArchiveUnavailable, Bucket, Folder, Target
from tests.features.archive.conftest import Configure
from tests.providers.aws.fakes import KEY_ID, REGION, SECRET
from tests.providers.aws.moto_server import client, moto


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Moto's S3 with the bucket `archive`, as boto3's environment has it."""
    bucket = f"archive-{uuid4().hex}"  # moto keeps buckets as long as the process
    url = moto()
    client("s3", url).create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", url)
    monkeypatch.setenv("AWS_REGION", REGION)
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    targets.forget()
    yield bucket
    targets.forget()


@pytest.fixture(params=["folder", "bucket"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Target:
    if request.param == "folder":
        return Folder(tmp_path / "archive")
    return Bucket(request.getfixturevalue("s3"), "notify/prod")


def test_a_file_is_stored_listed_read_and_deleted(target: Target, tmp_path: Path) -> None:
    content = bytes(range(256)) * 40_000  # more than one part of an upload
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.write_bytes(content)
    target.put("2026-01-02/event-1.parquet", source)
    target.put("2026-01-03/event-2.parquet", source)
    assert list(target.sizes("2026-01-02")) == ["2026-01-02/event-1.parquet"]
    target.get("2026-01-02/event-1.parquet", copy)
    assert copy.read_bytes() == content
    with target.open("2026-01-02/event-1.parquet") as file:
        file.seek(-100, 2)
        assert file.read() == content[-100:]
        file.seek(70_000)
        assert file.read(5) == content[70_000:70_005]
    for _ in range(2):
        target.delete("2026-01-02/event-1.parquet")
    assert target.sizes("2026-01-02") == {}
    assert list(target.sizes("2026-01-03")) == ["2026-01-03/event-2.parquet"]


def test_a_missing_file_is_an_error(target: Target, tmp_path: Path) -> None:
    with pytest.raises(ArchiveUnavailable, match="2026-01-02/none"):
        target.get("2026-01-02/none", tmp_path / "copy")
    with pytest.raises(ArchiveUnavailable, match="2026-01-02/none"):
        target.open("2026-01-02/none")


@pytest.mark.django_db(transaction=True)
def test_a_day_goes_to_a_bucket(day: dt.date, configure: Configure, s3: str) -> None:
    configure(archive_url=f"s3://{s3}/notify/prod")
    with Lease(day) as lease:
        assert days.advance(lease)
    target = targets.current()
    assert target is not None
    stored = target.sizes(day.isoformat())
    assert stored == dict(ArchiveFile.objects.values_list("name", "bytes"))
    assert len(stored) == 5


@pytest.mark.usefixtures("s3")
@pytest.mark.django_db(transaction=True)
def test_a_bucket_that_is_missing_or_away_keeps_the_day(
    day: dt.date, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(archive_url="s3://other")
    with Lease(day) as lease, pytest.raises(ArchiveUnavailable, match="NoSuchBucket"):
        days.advance(lease)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    targets.forget()
    with Lease(day) as lease, pytest.raises(ArchiveUnavailable):
        days.advance(lease)
    assert sorted(partitions.present(day)) == sorted(partitions.TABLES)
