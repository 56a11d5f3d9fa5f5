"""Templates and versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from notify_client import _call
from notify_client._answer import Tagged
from notify_client._async.engine import AsyncEngine, AsyncPages
from notify_client.types import (
    DiffAnswer,
    FilesAnswer,
    FilesStored,
    ListTemplatesQuery,
    PreviewAnswer,
    PreviewRequest,
    TemplateAnswer,
    TemplateLine,
    TemplateRequest,
    VersionAnswer,
)


class AsyncTemplates:
    """`/v1/templates`."""

    def __init__(self, engine: AsyncEngine) -> None:
        """See `AsyncClient.templates`."""
        self._engine = engine

    def list(self, **query: Unpack[ListTemplatesQuery]) -> AsyncPages[TemplateLine]:
        """List templates by name."""
        return AsyncPages(self._engine, _call.path("templates"), {**query})

    async def create(
        self, *, idempotency_key: str | None = None, **template: Unpack[TemplateRequest]
    ) -> VersionAnswer:
        """Create a draft: the first or the next version of a template."""
        call = _call.post(_call.path("templates"), template, idempotency_key=idempotency_key)
        return await self._engine.value(call, has="template_id")

    async def get(self, template_id: str) -> TemplateAnswer:
        """Return a template with the latest versions."""
        return await self._engine.value(
            _call.get(_call.path("templates", template_id)), has="template_id"
        )

    async def get_tagged(
        self, template_id: str, *, if_none_match: str | None = None
    ) -> Tagged[TemplateAnswer] | None:
        """Return a template and the ETag; None if the ETag is still `if_none_match`."""
        target = _call.path("templates", template_id)
        return await self._engine.read_tagged(
            _call.get(target, if_none_match=if_none_match), has="template_id"
        )

    async def version(self, template_id: str, version: int) -> VersionAnswer:
        """Return a version with the texts."""
        target = _call.path("templates", template_id, "versions", version)
        return await self._engine.value(_call.get(target), has="template_id")

    async def diff(
        self, template_id: str, *, old: int | None = None, new: int | None = None
    ) -> DiffAnswer:
        """Compare two versions; the service chooses an absent version."""
        target = _call.path("templates", template_id, "diff")
        return await self._engine.value(
            _call.get(target, {"from": old, "to": new}), has="template_id"
        )

    async def preview(self, template_id: str, **preview: Unpack[PreviewRequest]) -> PreviewAnswer:
        """Render a version for one channel and locale without a delivery."""
        target = _call.path("templates", template_id, "preview")
        return await self._engine.value(_call.post(target, preview), has="url")

    async def publish(
        self,
        template_id: str,
        version: int,
        *,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> VersionAnswer:
        """Publish a version; new notifications use the version at once."""
        target = _call.path("templates", template_id, "publish")
        body = {"version": version}
        call = _call.post(target, body, idempotency_key=idempotency_key, if_match=if_match)
        return await self._engine.value(call, has="template_id")

    async def roll_back(
        self,
        template_id: str,
        version: int,
        *,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> VersionAnswer:
        """Publish an earlier version's texts again, as a new version."""
        target = _call.path("templates", template_id, "rollback")
        body = {"version": version}
        call = _call.post(target, body, idempotency_key=idempotency_key, if_match=if_match)
        return await self._engine.value(call, has="template_id")

    async def files(self, template_id: str, *, version: int | None = None) -> FilesAnswer:
        """Return a version as files, by default the current version, else the newest draft."""
        target = _call.path("templates", template_id, "files")
        return await self._engine.value(_call.get(target, {"version": version}), has="template_id")

    async def put_files(
        self, template_id: str, files: Mapping[str, str], *, note: str | None = None
    ) -> FilesStored:
        """Store files as the newest draft, unless the newest version has this content already."""
        body = {"files": files} | ({} if note is None else {"note": note})
        target = _call.path("templates", template_id, "files")
        return await self._engine.value(_call.write("PUT", target, body), has="template_id")
