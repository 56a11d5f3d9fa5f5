"""Exports in the formats of the vendors, made by hand from their documents."""

from __future__ import annotations

from typing import Any, Final

NOVU_WORKFLOWS: Final[dict[str, Any]] = {
    "page": 0,
    "totalCount": 1,
    "data": [
        {
            "_id": "6400",
            "name": "Order shipped",
            "active": True,
            "critical": False,
            "triggers": [{"identifier": "order-shipped", "type": "event"}],
            "steps": [
                {
                    "active": True,
                    "template": {
                        "type": "in_app",
                        "content": "Order {{number}} is on its way",
                        "cta": {
                            "data": {"url": "/orders/{{number}}"},
                            "action": {"buttons": [{"type": "primary", "content": "Show"}]},
                        },
                    },
                },
                {
                    "active": True,
                    "template": {
                        "type": "email",
                        "contentType": "customHtml",
                        "subject": "Order {{number}}",
                        "content": "<p>Hello {{name}},</p>"
                        "{{#each lines}}<p>{{this.title}}</p>{{/each}}",
                    },
                },
                {"active": True, "template": {"type": "sms", "content": "Order {{number}} left"}},
            ],
        }
    ],
}
NOVU_SECOND: Final[dict[str, Any]] = {
    "data": {
        "workflowId": "welcome",
        "name": "Welcome",
        "steps": [
            {
                "type": "push",
                "controls": {"values": {"subject": "Hi", "body": "Hi {{payload.name}}"}},
            },
            {
                "type": "email",
                "controls": {
                    "values": {
                        "subject": "Welcome",
                        "body": "<p>{% if payload.plan == 'pro' %}Pro{% else %}Free{% endif %}</p>",
                        "editorType": "html",
                    }
                },
            },
        ],
    }
}
EXPO_TOKEN: Final = "ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]"
NOVU_SUBSCRIBERS: Final[dict[str, Any]] = {
    "data": [
        {
            "subscriberId": "u_1",
            "firstName": "Maria",
            "email": "maria@example.com",
            "phone": "+5511912345678",
            "locale": "pt-BR",
            "timezone": "America/Sao_Paulo",
            "channels": [
                {"providerId": "fcm", "credentials": {"deviceTokens": ["fcm-1", "fcm-2"]}},
                {"providerId": "expo", "credentials": {"deviceTokens": [EXPO_TOKEN]}},
            ],
            "preferences": {
                "global": {"enabled": True, "channels": {"sms": False, "email": True}},
                "workflows": [
                    {
                        "enabled": True,
                        "channels": {"email": False, "push": True},
                        "workflow": {"identifier": "order-shipped"},
                    },
                    {"enabled": False, "channels": {}, "workflow": {"identifier": "news"}},
                ],
            },
        },
        {
            "subscriberId": "u_2",
            "email": "joao@example.com",
            "preferences": [
                {
                    "template": {"triggers": [{"identifier": "news"}]},
                    "preference": {"enabled": True, "channels": {"email": False}},
                }
            ],
        },
    ]
}
KNOCK_WORKFLOW: Final[dict[str, Any]] = {
    "name": "New comment",
    "steps": [
        {
            "ref": "in_app_feed_1",
            "type": "channel",
            "channel_key": "in-app",
            "template": {"markdown_body": "{{ actor.name }} wrote", "action_url": "{{ data.url }}"},
        },
        {
            "ref": "sms_1",
            "type": "channel",
            "channel_key": "twilio",
            "template": {"text_body@": "sms_1/text_body.txt"},
        },
        {
            "ref": "email_1",
            "type": "channel",
            "channel_key": "ses",
            "template": {
                "subject": "New comment",
                "html_body@": "email_1/html_body.html",
                "text_body@": "email_1/text_body.txt",
            },
        },
    ],
    "__readonly": {"key": "new-comment"},
}
KNOCK_FILES: Final = {
    "sms_1/text_body.txt": "{{ actor.name | upcase }} wrote",
    "email_1/html_body.html": "<p>{% for line in data.lines %}{{ line }}{% endfor %}</p>",
    "email_1/text_body.txt": "{{ actor.name }} wrote",
}
KNOCK_USERS: Final[dict[str, Any]] = {
    "entries": [
        {
            "__typename": "User",
            "id": "u_1",
            "email": "maria@example.com",
            "phone_number": "+5511912345678",
            "timezone": "America/Sao_Paulo",
            "name": "Maria",
            "preferences": [
                {
                    "id": "default",
                    "channel_types": {"sms": False},
                    "categories": {"social": {"channel_types": {"email": False}}},
                    "workflows": {"new-comment": False, "welcome": True},
                }
            ],
        }
    ],
    "page_info": {"after": None},
}
GOVUK_TEMPLATES: Final[dict[str, Any]] = {
    "templates": [
        {
            "id": "f1",
            "name": "Your appointment",
            "type": "email",
            "subject": "Appointment on ((date))",
            "body": "# Your appointment\n\nDear ((first name)),\n\n"
            "* bring ((paper))\n* come early\n\n"
            "((is late??You are late.))\n^ See https://example.com/((ref)).",
            "personalisation": {"date": {"required": True}},
        },
        {
            "id": "f2",
            "name": "Your appointment",
            "type": "sms",
            "subject": None,
            "body": "((first name)), come on ((date))",
        },
    ]
}
GOVUK_CSV: Final = "Email address,first name\nmaria@example.com,Maria\njoao@example.com,João\n"
GOVUK_PHONES: Final = "phone number,first name\n07700 900123,Maria\n"
LISTMONK_SUBSCRIBERS: Final[dict[str, Any]] = {
    "data": {
        "results": [
            {
                "id": 1,
                "uuid": "a",
                "email": "maria@example.com",
                "name": "Maria",
                "attribs": {},
                "status": "enabled",
                "lists": [
                    {"id": 3, "name": "Weekly news", "subscription_status": "confirmed"},
                    {"id": 4, "name": "Offers", "subscription_status": "unsubscribed"},
                    {"id": 5, "name": "Events", "subscription_status": "unconfirmed"},
                ],
            },
            {
                "id": 2,
                "uuid": "b",
                "email": "gone@example.com",
                "name": "",
                "attribs": {},
                "status": "blocklisted",
                "lists": [],
            },
        ],
        "total": 2,
    }
}
LISTMONK_LISTS: Final[dict[str, Any]] = {
    "data": {"results": [{"id": 5, "name": "Events", "optin": "single"}], "total": 1}
}
LISTMONK_TEMPLATES: Final[dict[str, Any]] = {
    "data": [
        {
            "id": 9,
            "name": "Receipt",
            "type": "tx",
            "subject": "Receipt {{ .Tx.Data.number }}",
            "body": "<p>{{ .Subscriber.Name }}: {{ .Tx.Data.total }}</p>"
            '<a href="{{ UnsubscribeURL }}">Leave</a>{{ TrackView }}',
        }
    ]
}
LISTMONK_CSV: Final = (
    "uuid,email,name,attributes,status,created_at,updated_at\n"
    'a,maria@example.com,Maria,"{""city"": ""Berlin""}",enabled,2024-01-01,2024-01-01\n'
)
ONESIGNAL_CSV: Final = (
    "id,identifier,session_count,language,timezone,device_type,external_user_id,"
    "invalid_identifier,notification_types,timezone_id,tags\n"
    "1,apns-1,3,pt,-10800,0,u_1,f,1,America/Sao_Paulo,{}\n"
    "2,fcm-1,3,en,-10800,1,u_1,f,1,America/Sao_Paulo,{}\n"
    "3,maria@example.com,3,pt,-10800,11,u_1,f,-2,,{}\n"
    "4,dead,3,pt,-10800,1,u_1,t,1,,{}\n"
)
FIREBASE_USERS: Final[dict[str, Any]] = {
    "users": [
        {
            "localId": "u_1",
            "email": "maria@example.com",
            "phoneNumber": "+5511912345678",
            "displayName": "Maria",
        }
    ]
}
FIREBASE_TOKENS: Final[dict[str, Any]] = {
    "u_1": {"fcm-1": True, "fcm-old": False},
    "u_2": ["fcm-2"],
}
FIREBASE_CSV: Final = "user_id,token,platform\nu_1,fcm-1,ios\nu_2,fcm-2,\n"
SES: Final[dict[str, Any]] = {
    "SuppressedDestinationSummaries": [
        {"EmailAddress": "a@example.com", "Reason": "BOUNCE", "LastUpdateTime": "2024-01-01"},
        {"EmailAddress": "b@example.com", "Reason": "COMPLAINT", "LastUpdateTime": "2024-01-01"},
    ]
}
SENDGRID_BOUNCES: Final[list[dict[str, Any]]] = [
    {"created": 1, "email": "a@example.com", "reason": "550 5.1.1", "status": "5.1.1"}
]
SENDGRID_SPAM: Final = "email,created\nb@example.com,1\n"
SENDGRID_ASM: Final[list[dict[str, Any]]] = [
    {"email": "c@example.com", "group_id": 7, "group_name": "Weekly news", "created_at": 1}
]
POSTMARK: Final[dict[str, Any]] = {
    "Suppressions": [
        {
            "EmailAddress": "a@example.com",
            "SuppressionReason": "HardBounce",
            "Origin": "Recipient",
            "CreatedAt": "2024-01-01",
        },
        {
            "EmailAddress": "b@example.com",
            "SuppressionReason": "ManualSuppression",
            "Origin": "Recipient",
            "CreatedAt": "2024-01-01",
        },
    ]
}
POSTMARK_CSV: Final = (
    "EmailAddress,SuppressionReason,Origin,CreatedAt\nc@example.com,SpamComplaint,Recipient,2024\n"
)
RECIPIENTS_CSV: Final = (
    "user_id,email,phone,locale,timezone,fcm_token,apns_token,channels_off,topics_off,topics\n"
    "u_1,maria@example.com,+5511912345678,pt-BR,America/Sao_Paulo,fcm-1 fcm-2,,sms,"
    "marketing email:social,news\n"
    "u_2,joao@example.com,,,,,apns-1,,,\n"
)
