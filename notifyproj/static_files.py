"""Storage of static files: the names have a digest once `manage.py collectstatic` has run.

    packages' files ── collectstatic ──> STATIC_ROOT/notifications/console.3f9c21d07a5e.css, .css.gz

The build of the image and the start of the demo collect the files. A browser keeps a file with a
digest for years. Without collected files, as in a checkout, WhiteNoise serves the files of the
packages under their plain names, uncompressed, for a minute.
"""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFiles(CompressedManifestStaticFilesStorage):
    """WhiteNoise's storage, which also works before `collectstatic`."""

    support_js_module_import_aggregation = True
    """An `import` of a module names the other module with its digest."""

    def stored_name(self, name: str) -> str:
        """Return the name with the digest; the plain name if no files are collected.

        Raises:
            ValueError: files are collected, without this name.
        """
        return super().stored_name(name) if self.hashed_files else name
