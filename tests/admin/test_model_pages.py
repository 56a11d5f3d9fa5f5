"""The address of the page of a model is empty while no app shows the model."""

from __future__ import annotations

from notifications.core.admin import model_pages
from notifications.core.models import Template, TemplateText


def test_a_model_with_an_admin_has_a_list_and_a_page_for_each_row() -> None:
    assert model_pages.list_page(Template) == "/admin/notifications/template/"
    assert model_pages.change_page(Template(pk=7)) == "/admin/notifications/template/7/change/"


def test_a_model_without_an_admin_has_no_page() -> None:
    assert model_pages.list_page(TemplateText) == ""
    assert model_pages.change_page(TemplateText(pk=7)) == ""
