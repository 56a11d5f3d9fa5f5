"""Django models: columns and constraints without behaviour, a module per group of tables.

    Producer --< ApiKey                     clients of the API
    Recipient --< Contact, -- Preference    people, addresses and preferences
    Suppression                             addresses to which nothing is sent
    Template --< TemplateText               versions of texts; a published version never changes
    ShortLink                               target and clicks of a link in an SMS
    TemplateEvent                           the history of a template
    NotificationType                        priority and category of a type
    ProviderRoute                           routing of channels to providers
    Notification --< Delivery --< Attempt   request, delivery to a contact, provider call
         `--------< Event                   status moves with reasons
    ErasureJob                              removal of a person's data
    SealingJob                              encryption of variables declared sensitive later
    DeadLetter, ReplayJob                   failed deliveries and replays
    Breaker, BreakerEvent, ProviderPace     circuit breakers and rate limits of providers
    ProviderConnection                      last run of `manage.py connect` for a provider
    Schedule --< Occurrence                 recurring notifications and planned occurrences
    WebhookEndpoint --< WebhookMessage --< WebhookAttempt, WebhookPosition
                                            status webhooks to producers
    OrderingKey --< OrderedDelivery         deliveries in order of acceptance
    IdempotencyKey, ReceivedText, Rejected, Alert, SweepRun, ChangeMark
    AuditEntry                              changes by operators and keys; append-only
    SignIn                                  operators' sessions

Notification, Delivery, Attempt and Event are partitioned by day on the leading id and have no
foreign keys; the id of a notification can be computed from the id of a delivery (see `rules.ids`).
Only `store/` writes the partitioned tables.
"""

from notifications.models.alert import Alert
from notifications.models.audit import AuditEntry
from notifications.models.breaker import Breaker, BreakerEvent, ProviderPace
from notifications.models.connection import ProviderConnection
from notifications.models.dead_letter import DeadLetter, ReplayJob
from notifications.models.delivery import Attempt, Delivery, Event
from notifications.models.erasure import ErasureJob
from notifications.models.housekeeping import (
    ChangeMark,
    IdempotencyKey,
    ReceivedText,
    Rejected,
    SweepRun,
)
from notifications.models.notification import Notification, NotificationType
from notifications.models.ordering import OrderedDelivery, OrderingKey
from notifications.models.producer import ApiKey, Producer
from notifications.models.recipient import Contact, Preference, Recipient
from notifications.models.retry_preset import RetryPreset
from notifications.models.route import ProviderRoute
from notifications.models.schedule import Occurrence, Schedule
from notifications.models.sealing import SealingJob
from notifications.models.short_link import ShortLink
from notifications.models.sign_in import SignIn
from notifications.models.suppression import Suppression
from notifications.models.template import Template, TemplateEvent, TemplateText
from notifications.models.webhook import (
    WebhookAttempt,
    WebhookEndpoint,
    WebhookMessage,
    WebhookPosition,
)

__all__ = [
    "Alert",
    "ApiKey",
    "Attempt",
    "AuditEntry",
    "Breaker",
    "BreakerEvent",
    "ChangeMark",
    "Contact",
    "DeadLetter",
    "Delivery",
    "ErasureJob",
    "Event",
    "IdempotencyKey",
    "Notification",
    "NotificationType",
    "Occurrence",
    "OrderedDelivery",
    "OrderingKey",
    "Preference",
    "Producer",
    "ProviderConnection",
    "ProviderPace",
    "ProviderRoute",
    "ReceivedText",
    "Recipient",
    "Rejected",
    "ReplayJob",
    "RetryPreset",
    "Schedule",
    "SealingJob",
    "ShortLink",
    "SignIn",
    "Suppression",
    "SweepRun",
    "Template",
    "TemplateEvent",
    "TemplateText",
    "WebhookAttempt",
    "WebhookEndpoint",
    "WebhookMessage",
    "WebhookPosition",
]
