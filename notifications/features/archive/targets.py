"""The place of the files: a folder, or a bucket of S3 or of a server with the API of S3.

A file appears under its name as a whole or not at all: the folder by a rename, S3 by the end of the
upload. boto3 reads region, endpoint and credentials from its own environment variables.
"""

from __future__ import annotations

import functools
import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol
from urllib.parse import unquote, urlsplit

import boto3
from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from notifications.core import conf

_CONNECT_SECONDS: Final = 5
_READ_SECONDS: Final = 30


class ArchiveUnavailable(Exception):
    """The folder or bucket does not answer, or a file is missing there. Nothing is dropped."""


class Target(Protocol):
    """A folder or bucket. Every method raises ArchiveUnavailable on failure."""

    def put(self, name: str, source: Path) -> None:
        """Store a file under a name; the name appears with the complete file."""

    def get(self, name: str, destination: Path) -> None:
        """Copy a file to a local path."""

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading at any position."""

    def sizes(self, folder: str) -> dict[str, int]:
        """Return name -> bytes of the files of a folder, also of unfinished files."""

    def delete(self, name: str) -> None:
        """Delete a file; a missing file is not an error."""


@contextmanager
def _translation(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, BotoCoreError, ClientError, Boto3Error) as error:
        raise ArchiveUnavailable(f"{name}: {type(error).__name__}: {error}") from error


class Folder:
    """A folder of this host; all processes need the same folder."""

    def __init__(self, path: Path) -> None:
        """Use a folder, which `put` creates."""
        self._path = path

    def put(self, name: str, source: Path) -> None:
        """Copy a file to a temporary name, flush the file to the disk, and rename it."""
        final = self._path / name
        unfinished = final.with_suffix(".unfinished")
        with _translation(name):
            final.parent.mkdir(parents=True, exist_ok=True)
            with source.open("rb") as given, unfinished.open("wb") as written:
                shutil.copyfileobj(given, written, 1024 * 1024)
                written.flush()
                os.fsync(written.fileno())
            unfinished.replace(final)
            folder = os.open(final.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def get(self, name: str, destination: Path) -> None:
        """Copy a file."""
        with _translation(name):
            shutil.copyfile(self._path / name, destination)

    def open(self, name: str) -> BinaryIO:
        """Open a file."""
        with _translation(name):
            return (self._path / name).open("rb")

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the files of a folder; an absent folder has none."""
        with _translation(folder):
            found = sorted((self._path / folder).glob("*"))
            return {path.relative_to(self._path).as_posix(): path.stat().st_size for path in found}

    def delete(self, name: str) -> None:
        """Delete a file, and the folder when empty."""
        path = self._path / name
        with _translation(name):
            path.unlink(missing_ok=True)
            if path.parent.is_dir() and not any(path.parent.iterdir()):
                path.parent.rmdir()


class Bucket:
    """A bucket, with a prefix before all names."""

    def __init__(self, bucket: str, prefix: str) -> None:
        """Use a bucket; credentials and endpoint come from boto3's environment."""
        self._bucket = bucket
        self._prefix = f"{prefix}/" if prefix else ""
        retries = {"mode": "standard", "total_max_attempts": 4}
        self._client: Any = boto3.session.Session().client(
            "s3",
            config=Config(
                connect_timeout=_CONNECT_SECONDS, read_timeout=_READ_SECONDS, retries=retries
            ),
        )

    def put(self, name: str, source: Path) -> None:
        """Upload a file, in parts when the file is large."""
        with _translation(name):
            self._client.upload_file(str(source), self._bucket, self._prefix + name)

    def get(self, name: str, destination: Path) -> None:
        """Download a file."""
        with _translation(name):
            self._client.download_file(self._bucket, self._prefix + name, str(destination))

    def open(self, name: str) -> BinaryIO:
        """Open a file; each read is a ranged request."""
        with _translation(name):
            head = self._client.head_object(Bucket=self._bucket, Key=self._prefix + name)
        read = functools.partial(self._range, name)
        return io.BufferedReader(_Ranges(read, head["ContentLength"]), 64 * 1024)

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the files below a folder."""
        with _translation(folder):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=f"{self._prefix}{folder}/"
            )
            found = [entry for page in pages for entry in page.get("Contents", ())]
        return {entry["Key"].removeprefix(self._prefix): entry["Size"] for entry in found}

    def delete(self, name: str) -> None:
        """Delete a file."""
        with _translation(name):
            self._client.delete_object(Bucket=self._bucket, Key=self._prefix + name)

    def _range(self, name: str, first: int, count: int) -> bytes:
        with _translation(name):
            answer = self._client.get_object(
                Bucket=self._bucket,
                Key=self._prefix + name,
                Range=f"bytes={first}-{first + count - 1}",
            )
            content: bytes = answer["Body"].read()
        return content


class _Ranges(io.RawIOBase):
    """A file of a bucket, read by ranges."""

    def __init__(self, read: functools.partial[bytes], size: int) -> None:
        super().__init__()
        self._read = read
        self._size = size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = start + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401 - a buffer has no type in Python 3.11
        count = min(len(buffer), self._size - self._position)
        if count <= 0:
            return 0
        content = self._read(self._position, count)
        buffer[: len(content)] = content
        self._position += len(content)
        return len(content)


def current() -> Target | None:
    """Return the target of NOTIFY_ARCHIVE_URL; None: there is no archive."""
    return _target(conf.current().archive_url)


@functools.lru_cache(maxsize=8)
def _target(url: str) -> Target | None:
    if url == conf.NO_ARCHIVE:
        return None
    parts = urlsplit(url)
    if parts.scheme == "s3":
        with _translation(url):
            return Bucket(parts.netloc, parts.path.strip("/"))
    return Folder(Path(unquote(parts.path)))


def forget() -> None:
    """Read boto3's environment again on the next use."""
    _target.cache_clear()
