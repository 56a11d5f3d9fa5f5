"""The URL paths of series, enrolments and custom events."""

from __future__ import annotations

from django.urls import path

from notifications.features.series.api import enrolments, events, series

_SERIES = "v1/series/<str:series_name>"

urlpatterns = [
    path("v1/series", series.SeriesListView.as_view()),
    path(_SERIES, series.SeriesDetailView.as_view()),
    path(f"{_SERIES}/publish", series.SeriesPublishView.as_view()),
    path(f"{_SERIES}/pause", series.SeriesPauseView.as_view()),
    path(f"{_SERIES}/resume", series.SeriesResumeView.as_view()),
    path(f"{_SERIES}/archive", series.SeriesArchiveView.as_view()),
    path(f"{_SERIES}/enrolments", enrolments.EnrolmentListView.as_view()),
    path(
        f"{_SERIES}/enrolments/<int:enrolment_id>",
        enrolments.EnrolmentDetailView.as_view(),
    ),
    path(
        f"{_SERIES}/enrolments/<int:enrolment_id>/exit",
        enrolments.EnrolmentExitView.as_view(),
    ),
    path("v1/events", events.CustomEventListView.as_view()),
]
