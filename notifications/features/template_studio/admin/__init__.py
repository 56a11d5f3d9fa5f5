"""Pages for operators: versions of templates, and the history of templates.

templates         list and form of versions, their actions, differences and history
editor_page       texts with previews, and the fields of in-app and push texts
files_page        attachments of a version
translation_page  files for translators, and their import
template_uses     types that used a template in the last days
publish_page      changes and effect, before a version is published
forms             checks of the form
zip_files         export and import as a zip file
"""

from notifications.features.template_studio.admin import templates

__all__ = ["templates"]
