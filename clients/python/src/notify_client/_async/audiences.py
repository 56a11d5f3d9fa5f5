"""Attributes of recipients, topics, saved audiences, uploads and snapshots."""

from __future__ import annotations

import builtins
from typing import Any, Unpack

from notify_client import _call
from notify_client._async.engine import AsyncEngine, AsyncPages
from notify_client.types import (
    AttributeAnswer,
    AttributeRequest,
    AudienceAnswer,
    AudienceRequest,
    EstimateAnswer,
    PageQuery,
    SnapshotAnswer,
    SnapshotRequest,
    SubscriberLine,
    SubscribersChanged,
    TopicAnswer,
    TopicSizeAnswer,
    UploadAnswer,
)


class AsyncAttributes:
    """`/v1/attributes`: definitions of the attributes of recipients."""

    def __init__(self, engine: AsyncEngine) -> None:
        """See `AsyncClient.attributes`."""
        self._engine = engine

    def list(self, **query: Unpack[PageQuery]) -> AsyncPages[AttributeAnswer]:
        """List definitions, newest first."""
        return AsyncPages(self._engine, _call.path("attributes"), {**query})

    async def get(self, name: str) -> AttributeAnswer:
        """Return a definition."""
        return await self._engine.value(_call.get(_call.path("attributes", name)), has="name")

    async def define(self, name: str, **attribute: Unpack[AttributeRequest]) -> AttributeAnswer:
        """Define an attribute, or change the description; the kind never changes."""
        call = _call.write("PUT", _call.path("attributes", name), attribute)
        return await self._engine.value(call, has="name")


class AsyncTopics:
    """`/v1/topics`: named groups of recipients."""

    def __init__(self, engine: AsyncEngine) -> None:
        """See `AsyncClient.topics`."""
        self._engine = engine

    def list(self, **query: Unpack[PageQuery]) -> AsyncPages[TopicAnswer]:
        """List topics, newest first."""
        return AsyncPages(self._engine, _call.path("topics"), {**query})

    async def get(self, topic: str) -> TopicSizeAnswer:
        """Return a topic with the number of subscribers."""
        return await self._engine.value(_call.get(_call.path("topics", topic)), has="topic")

    async def delete(self, topic: str) -> None:
        """Delete a topic with its subscriptions."""
        await self._engine.nothing(_call.write("DELETE", _call.path("topics", topic)))

    def subscribers(self, topic: str, **query: Unpack[PageQuery]) -> AsyncPages[SubscriberLine]:
        """List the subscribers of a topic."""
        return AsyncPages(self._engine, _call.path("topics", topic, "subscribers"), {**query})

    async def subscribe(self, topic: str, user_id: str) -> None:
        """Subscribe a recipient; the first call creates the topic."""
        target = _call.path("topics", topic, "subscribers", user_id)
        await self._engine.nothing(_call.write("PUT", target))

    async def unsubscribe(self, topic: str, user_id: str) -> None:
        """Unsubscribe a recipient."""
        target = _call.path("topics", topic, "subscribers", user_id)
        await self._engine.nothing(_call.write("DELETE", target))

    async def subscribe_many(self, topic: str, user_ids: builtins.list[str]) -> SubscribersChanged:
        """Subscribe up to 5,000 recipients; the answer has an error for each wrong user id."""
        target = _call.path("topics", topic, "subscribers")
        return await self._engine.value(
            _call.write("PUT", target, {"user_ids": user_ids}), has="changed"
        )

    async def unsubscribe_many(
        self, topic: str, user_ids: builtins.list[str], *, idempotency_key: str | None = None
    ) -> SubscribersChanged:
        """Unsubscribe up to 5,000 recipients."""
        target = _call.path("topics", topic, "subscribers", "delete")
        call = _call.post(target, {"user_ids": user_ids}, idempotency_key=idempotency_key)
        return await self._engine.value(call, has="changed")


class AsyncAudiences:
    """`/v1/audiences`, uploads and snapshots."""

    def __init__(self, engine: AsyncEngine) -> None:
        """See `AsyncClient.audiences`."""
        self._engine = engine

    def list(self, **query: Unpack[PageQuery]) -> AsyncPages[AudienceAnswer]:
        """List saved audiences, newest first."""
        return AsyncPages(self._engine, _call.path("audiences"), {**query})

    async def create(
        self, *, idempotency_key: str | None = None, **audience: Unpack[AudienceRequest]
    ) -> AudienceAnswer:
        """Save an audience expression under a name."""
        call = _call.post(_call.path("audiences"), audience, idempotency_key=idempotency_key)
        return await self._engine.value(call, has="id")

    async def get(self, audience_id: int) -> AudienceAnswer:
        """Return a saved audience."""
        return await self._engine.value(_call.get(_call.path("audiences", audience_id)), has="id")

    async def put(self, audience_id: int, **audience: Unpack[AudienceRequest]) -> AudienceAnswer:
        """Replace name, description and expression."""
        call = _call.write("PUT", _call.path("audiences", audience_id), audience)
        return await self._engine.value(call, has="id")

    async def delete(self, audience_id: int) -> None:
        """Delete a saved audience that no other audience uses."""
        await self._engine.nothing(_call.write("DELETE", _call.path("audiences", audience_id)))

    async def estimate(self, audience: dict[str, Any]) -> EstimateAnswer:
        """Return the size of an audience, exact or from a sample."""
        target = _call.path("audiences", "estimate")
        return await self._engine.value(_call.post(target, {"audience": audience}), has="count")

    def uploads(self, **query: Unpack[PageQuery]) -> AsyncPages[UploadAnswer]:
        """List uploads, newest first."""
        return AsyncPages(self._engine, _call.path("audience-uploads"), {**query})

    async def upload(
        self, file: bytes, *, media_type: str = _call.CSV, name: str | None = None
    ) -> UploadAnswer:
        """Upload user ids with variables.

        An upload has no idempotency key, so the client repeats an upload only before a connection,
        and not after a lost answer: look into `uploads` first.

        Args:
            file: the bytes of the file.
            media_type: `text/csv` or `application/x-ndjson`.
            name: a name for operators.
        """
        target = _call.path("audience-uploads") + _call.query({"name": name})
        call = _call.file(target, file, media_type=media_type, is_repeatable=False)
        return await self._engine.value(call, has="id")

    async def get_upload(self, upload_id: int) -> UploadAnswer:
        """Return the state and the counts of an upload."""
        return await self._engine.value(
            _call.get(_call.path("audience-uploads", upload_id)), has="id"
        )

    async def delete_upload(self, upload_id: int) -> None:
        """Delete an upload."""
        target = _call.path("audience-uploads", upload_id)
        await self._engine.nothing(_call.write("DELETE", target))

    def snapshots(self, **query: Unpack[PageQuery]) -> AsyncPages[SnapshotAnswer]:
        """List snapshots, newest first."""
        return AsyncPages(self._engine, _call.path("audience-snapshots"), {**query})

    async def take_snapshot(
        self, *, idempotency_key: str | None = None, **snapshot: Unpack[SnapshotRequest]
    ) -> SnapshotAnswer:
        """Store the recipients of an audience as a fixed set, in the background."""
        target = _call.path("audience-snapshots")
        call = _call.post(target, snapshot, idempotency_key=idempotency_key)
        return await self._engine.value(call, has="id")

    async def get_snapshot(self, snapshot_id: int) -> SnapshotAnswer:
        """Return the state and the size of a snapshot."""
        return await self._engine.value(
            _call.get(_call.path("audience-snapshots", snapshot_id)), has="id"
        )

    async def delete_snapshot(self, snapshot_id: int) -> None:
        """Delete a snapshot."""
        target = _call.path("audience-snapshots", snapshot_id)
        await self._engine.nothing(_call.write("DELETE", target))
