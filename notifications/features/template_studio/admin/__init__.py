"""Pages for operators: versions of templates, and the history of templates.

templates       list and form of versions, their actions, and the history
editor_page     texts with previews; in_app_fields: fields of in-app and push texts
compare_page    differences between two versions
publish_page    changes and effect, before a version is published
forms           checks of the form
zip_files       export and import as a zip file
"""

from notifications.features.template_studio.admin import templates

__all__ = ["templates"]
