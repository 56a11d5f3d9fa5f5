"""The URL paths of topics, saved audiences, uploads and snapshots."""

from __future__ import annotations

from django.urls import path

from notifications.features.audiences.api import audiences, lists, topics

_TOPIC = "v1/topics/<str:topic>"

urlpatterns = [
    path("v1/recipients/<str:user_id>/topics", topics.RecipientTopicListView.as_view()),
    path("v1/topics", topics.TopicListView.as_view()),
    path(_TOPIC, topics.TopicDetailView.as_view()),
    path(f"{_TOPIC}/subscribers", topics.SubscriberListView.as_view()),
    path(f"{_TOPIC}/subscribers/delete", topics.SubscriberDeleteView.as_view()),
    path(f"{_TOPIC}/subscribers/<str:user_id>", topics.SubscriberDetailView.as_view()),
    path("v1/audiences", audiences.AudienceListView.as_view()),
    path("v1/audiences/estimate", audiences.AudienceEstimateView.as_view()),
    path("v1/audiences/<int:audience_id>", audiences.AudienceDetailView.as_view()),
    path("v1/audience-uploads", lists.AudienceUploadListView.as_view()),
    path("v1/audience-uploads/<int:upload_id>", lists.AudienceUploadDetailView.as_view()),
    path("v1/audience-snapshots", lists.AudienceSnapshotListView.as_view()),
    path("v1/audience-snapshots/<int:snapshot_id>", lists.AudienceSnapshotDetailView.as_view()),
]
