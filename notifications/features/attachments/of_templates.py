"""The files of templates: contents that belong to no producer and no recipient.

The id of such a file follows from digest and type, so a content is stored once for all templates.
A version of a template names the digest. Each written version keeps its files, as an accepted
notification keeps the files of its producer; `attachment_expire.sql` keeps a file that a version
names, and deletes a file that no version has named since the last look.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from uuid import UUID

from notifications.core import clock
from notifications.core.rules.attachments import StoredFile, template_file_id
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import db
from notifications.features.attachments import limits, rows, rules


def keep(ids: Collection[UUID]) -> Mapping[UUID, int]:
    """Keep the files that a new version names; returns id -> bytes of the existing files.

    Runs in the transaction of the version, and locks the files until its end: the sweep then sees
    the version, or a later time of deletion.
    """
    values = {"ids": list(ids), "until": rows.end_of_use(clock.now())}
    return {row["id"]: row["size"] for row in db.rows("attachment_template_keep", values)}


def find(ids: Collection[UUID]) -> Mapping[UUID, int]:
    """Return id -> bytes of the existing files of templates; locks nothing."""
    values = {"ids": list(ids), "producer": None, "mode": None}
    return {row["id"]: row["size"] for row in db.rows("attachment_template_find", values)}


def copy(wanted: Collection[UUID], *, producer_id: int, mode: Mode) -> Mapping[UUID, StoredFile]:
    """Copy files of a producer to the files of templates; a file of templates is its own copy.

    The bytes stay in Postgres. Runs in the transaction of the version. Returns wanted id -> file
    of templates, for the existing files.
    """
    asked = {"ids": list(wanted), "producer": producer_id, "mode": int(mode)}
    found = {row["id"]: StoredFile(**row) for row in db.rows("attachment_template_find", asked)}
    copies = {
        id_: each._replace(id=template_file_id(each.digest, each.type))
        for id_, each in found.items()
    }
    sources = {each.id: id_ for id_, each in copies.items()}
    now = clock.now()
    values = {
        "sources": list(sources.values()),
        "copies": list(sources),
        "until": now + rows.UNUSED_KEPT,
        "now": now,
    }
    stored = {row["id"] for row in db.rows("attachment_template_copy", values)} if sources else ()
    return {id_: each for id_, each in copies.items() if each.id in stored}


def store(type_: str, content: bytes) -> StoredFile | str:
    """Store a file for templates, for a day until a version names it; returns a fault as a text.

    Safe to run twice.
    """
    most = limits.most_bytes(Mode.LIVE)
    if not content:
        return "the file is empty"
    if fault := rules.type_fault(type_) or rules.content_fault(type_, content):
        return fault
    if len(content) > most:
        return f"the file has {len(content)} bytes, at most {most}: write a link instead"
    digest = hashlib.sha256(content)
    file = StoredFile(
        id=template_file_id(digest.hexdigest(), type_),
        type=type_,
        size=len(content),
        digest=digest.hexdigest(),
    )
    now = clock.now()
    values = {
        "id": file.id,
        "digest": digest.digest(),
        "type": type_,
        "size": file.size,
        "content": content,
        "until": now + rows.UNUSED_KEPT,
        "now": now,
    }
    db.retry_refused(lambda: db.run("attachment_template_store", values))
    return file
