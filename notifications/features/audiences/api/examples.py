"""Facts of the OpenAPI document about topics, audiences, uploads and snapshots, with examples."""

from __future__ import annotations

from typing import Final

from notifications.core.api.examples.shape import ANOTHER_USER, USER, Example, Examples

TAGS: Final = {"Audiences": "Topics, saved audiences, uploads and snapshots: groups of recipients."}
PATH_PARAMETERS: Final = {
    "audience_id": "The `id` of a saved audience.",
    "snapshot_id": "The `id` of a snapshot.",
    "topic": "The name of a topic: letters, digits and the characters _ . : -",
    "upload_id": "The `id` of an upload.",
}
_TOPIC: Final = {"topic": "artist-17"}
_SUBSCRIBER: Final = {**_TOPIC, "user_id": USER}
_PRO: Final = {"attribute": "plan", "is": "pro"}
_QUIET: Final = {"not": {"received": {"type": "WEEKLY_NEWS", "within_days": 7}}}
_CSV: Final = f"user_id,code\n{USER},SPRING-1\n{ANOTHER_USER},SPRING-2\n"
_JSON_LINES: Final = f'{{"user_id": "{USER}", "code": "SPRING-1"}}\n'
_CSV_TYPE: Final = "text/csv"
_LINES_TYPE: Final = "application/x-ndjson"
_AUDIENCE: Final = {"audience_id": 171}
_UPLOAD: Final = {"upload_id": 172}
_SNAPSHOT: Final = {"snapshot_id": 173}

_TOPICS: Final[Examples] = {
    "list_recipient_topics": {
        "minimal": Example(summary="The topics of a recipient", status=200, path={"user_id": USER}),
        "usual": Example(
            summary="A recipient without topics", status=200, path={"user_id": ANOTHER_USER}
        ),
    },
    "list_topics": {
        "minimal": Example(summary="The latest topics", status=200),
        "usual": Example(summary="Ten topics", status=200, query={"limit": 10}),
    },
    "get_topic": {
        "minimal": Example(summary="A topic with its size", status=200, path=_TOPIC),
        "usual": Example(summary="Another topic", status=200, path={"topic": "news"}),
    },
    "delete_topic": {
        "minimal": Example(summary="Delete a topic", status=204, path=_TOPIC),
        "usual": Example(summary="Delete another topic", status=204, path={"topic": "news"}),
    },
    "list_subscribers": {
        "minimal": Example(summary="The first subscribers", status=200, path=_TOPIC),
        "usual": Example(summary="Ten subscribers", status=200, path=_TOPIC, query={"limit": 10}),
    },
    "subscribe_recipients": {
        "minimal": Example(
            summary="Subscribe a recipient", status=200, path=_TOPIC, body={"user_ids": [USER]}
        ),
        "usual": Example(
            summary="Subscribe two recipients; an unknown user id is an error of its own",
            status=200,
            path=_TOPIC,
            body={"user_ids": [USER, ANOTHER_USER, "u_unknown"]},
        ),
    },
    "unsubscribe_recipients": {
        "minimal": Example(
            summary="Unsubscribe a recipient", status=200, path=_TOPIC, body={"user_ids": [USER]}
        ),
        "usual": Example(
            summary="Unsubscribe two recipients, with an idempotency key",
            status=200,
            path=_TOPIC,
            headers={"Idempotency-Key": "unsubscribe-17"},
            body={"user_ids": [USER, ANOTHER_USER]},
        ),
    },
    "subscribe": {
        "minimal": Example(summary="Subscribe a recipient", status=204, path=_SUBSCRIBER),
        "usual": Example(
            summary="The first subscriber of a new topic",
            status=204,
            path={"topic": "artist-18", "user_id": ANOTHER_USER},
        ),
    },
    "unsubscribe": {
        "minimal": Example(summary="Unsubscribe a recipient", status=204, path=_SUBSCRIBER),
        "usual": Example(
            summary="A recipient who is no subscriber",
            status=204,
            path={**_TOPIC, "user_id": ANOTHER_USER},
        ),
    },
}
_AUDIENCES: Final[Examples] = {
    "list_audiences": {
        "minimal": Example(summary="The latest audiences", status=200),
        "usual": Example(summary="Ten audiences", status=200, query={"limit": 10}),
    },
    "create_audience": {
        "minimal": Example(
            summary="Recipients with an attribute",
            status=201,
            body={"name": "Pro customers", "audience": _PRO},
        ),
        "usual": Example(
            summary="Pro customers who got no news in the last week",
            status=201,
            headers={"Idempotency-Key": "audience-17"},
            body={
                "name": "Pro without news",
                "description": "For the news of the week.",
                "audience": {"and": [_PRO, {"reachable": "email"}, _QUIET]},
            },
        ),
    },
    "get_audience": {
        "minimal": Example(summary="A saved audience", status=200, path=_AUDIENCE),
        "usual": Example(summary="Another saved audience", status=200, path={"audience_id": 174}),
    },
    "put_audience": {
        "minimal": Example(
            summary="Another expression",
            status=200,
            path=_AUDIENCE,
            body={"name": "Customers", "audience": {"everyone": True}},
        ),
        "usual": Example(
            summary="The subscribers of a topic without one recipient",
            status=200,
            path=_AUDIENCE,
            body={
                "name": "Fans",
                "description": "Fans of the artist 17.",
                "audience": {"and": [{"topic": "artist-17"}, {"not": {"user_ids": [USER]}}]},
            },
        ),
    },
    "delete_audience": {
        "minimal": Example(summary="Delete an audience", status=204, path=_AUDIENCE),
        "usual": Example(summary="Delete another", status=204, path={"audience_id": 174}),
    },
    "estimate_audience": {
        "minimal": Example(
            summary="All recipients", status=200, body={"audience": {"everyone": True}}
        ),
        "usual": Example(
            summary="Three conditions",
            status=200,
            body={"audience": {"and": [_PRO, {"attribute": "locale", "is": "pt"}, _QUIET]}},
        ),
    },
    "list_audience_uploads": {
        "minimal": Example(summary="The latest uploads", status=200),
        "usual": Example(summary="Ten uploads", status=200, query={"limit": 10}),
    },
    "upload_audience": {
        "minimal": Example(
            summary="A CSV file of user ids with a variable",
            status=201,
            body=_CSV,
            media_type=_CSV_TYPE,
        ),
        "usual": Example(
            summary="NDJSON, with a name for operators",
            status=201,
            query={"name": "Spring codes"},
            body=_JSON_LINES,
            media_type=_LINES_TYPE,
        ),
    },
    "get_audience_upload": {
        "minimal": Example(summary="An upload", status=200, path=_UPLOAD),
        "usual": Example(summary="Another upload", status=200, path={"upload_id": 175}),
    },
    "delete_audience_upload": {
        "minimal": Example(summary="Delete an upload", status=204, path=_UPLOAD),
        "usual": Example(summary="Delete another upload", status=204, path={"upload_id": 175}),
    },
    "list_audience_snapshots": {
        "minimal": Example(summary="The latest snapshots", status=200),
        "usual": Example(summary="Ten snapshots", status=200, query={"limit": 10}),
    },
    "take_audience_snapshot": {
        "minimal": Example(
            summary="The subscribers of a topic as of now",
            status=202,
            body={"audience": {"topic": "artist-17"}},
        ),
        "usual": Example(
            summary="A saved audience, with a name for operators",
            status=202,
            headers={"Idempotency-Key": "snapshot-17"},
            body={"audience": {"audience": "Customers"}, "name": "Customers on launch day"},
        ),
    },
    "get_audience_snapshot": {
        "minimal": Example(summary="A snapshot", status=200, path=_SNAPSHOT),
        "usual": Example(summary="Another snapshot", status=200, path={"snapshot_id": 176}),
    },
    "delete_audience_snapshot": {
        "minimal": Example(summary="Delete a snapshot", status=204, path=_SNAPSHOT),
        "usual": Example(summary="Delete another", status=204, path={"snapshot_id": 176}),
    },
}
EXAMPLES: Final[Examples] = {**_TOPICS, **_AUDIENCES}
