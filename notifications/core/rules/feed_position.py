"""Positions in the change feed, and the cursors that producers keep.

The order of the feed is (transaction id, `seq`). A transaction id is valid in one database cluster
only, so a cursor names the cluster, and a cursor of another cluster is refused.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import struct
from dataclasses import dataclass
from typing import Final, Self

_FORMAT: Final = struct.Struct(">QQQq")
"""Cluster, transaction id, seq, and microseconds since 1970 (_NO_SINCE: none)."""
_NO_SINCE: Final = -(2**63)
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_MAX_BIGINT: Final = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPosition:
    """A place between two changes."""

    cluster: int
    """`system_identifier` of the database cluster."""
    xid: int = 0
    seq: int = 0
    since: dt.datetime | None = None
    """Earlier changes are left out."""

    def to_cursor(self) -> str:
        """Return the cursor of the position: 43 characters that a URL may hold."""
        since = _NO_SINCE if self.since is None else (self.since - _EPOCH) // _MICROSECOND
        packed = _FORMAT.pack(self.cluster % 2**64, self.xid, self.seq, since)
        return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()

    @classmethod
    def from_cursor(cls, cursor: str) -> Self | None:
        """Return the position of a cursor; None for a text other than a cursor."""
        try:
            packed = base64.b64decode(cursor + "=", altchars=b"-_", validate=True)
            cluster, xid, seq, since = _FORMAT.unpack(packed)
            instant = None if since == _NO_SINCE else _EPOCH + since * _MICROSECOND
        except (binascii.Error, struct.error, ValueError, OverflowError):
            return None
        if max(xid, seq) > _MAX_BIGINT:
            return None
        return cls(cluster=cluster, xid=xid, seq=seq, since=instant)
