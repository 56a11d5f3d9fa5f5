"""Operations of topics, audiences, uploads and snapshots, and facts of the OpenAPI document."""

from __future__ import annotations

from typing import Final

TAGS: Final = {"Audiences": "Topics, saved audiences, uploads and snapshots: groups of recipients."}
PATH_PARAMETERS: Final = {
    "audience_id": "The `id` of a saved audience.",
    "snapshot_id": "The `id` of a snapshot.",
    "topic": "The name of a topic: letters, digits and the characters _ . : -",
    "upload_id": "The `id` of an upload.",
}
