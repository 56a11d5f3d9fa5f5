"""One file per noun: columns and constraints, no behaviour.

    Producer --< ApiKey                     who may call
    Recipient --< Contact, -- Preference    who is reached, where, and what they allow
    Suppression                             addresses that are not used, whoever hands them in
    Template --< TemplateText               what is said; a published version never changes
    ShortLink                               where a link in an SMS leads, and its clicks
    TemplateEvent                           who drafted, published and rolled back
    NotificationType                        which priority and category a type has
    ProviderRoute                           which provider takes what

    Notification --< Delivery --< Attempt   what was asked, each effort, each provider call
         `--------< Event                   every status move and why
    ErasureJob                              the removal of what is known of a person
    SealingJob                              the encryption of what became sensitive later
    DeadLetter, ReplayJob                   what gave up, and bringing it back
    Breaker, BreakerEvent, ProviderPace     providers at rest, and how fast they may be called
    Schedule --< Occurrence                 what recurs, and what came of each time
    OrderingKey --< OrderedDelivery         who waits for whom
    IdempotencyKey, ReceivedText, Rejected, Alert, SweepRun
    AuditEntry                              who changed what; append-only
    SignIn                                  operators' sessions

Notification, Delivery, Attempt and Event are partitioned by day on their leading id and have no
foreign keys; a delivery's id tells its notification's (see `rules.ids`). They are written by
`store/` alone.
"""

from notifications.models.alert import Alert
from notifications.models.audit import AuditEntry
from notifications.models.breaker import Breaker, BreakerEvent, ProviderPace
from notifications.models.dead_letter import DeadLetter, ReplayJob
from notifications.models.delivery import Attempt, Delivery, Event
from notifications.models.erasure import ErasureJob
from notifications.models.housekeeping import IdempotencyKey, ReceivedText, Rejected, SweepRun
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

__all__ = [
    "Alert",
    "ApiKey",
    "Attempt",
    "AuditEntry",
    "Breaker",
    "BreakerEvent",
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
]
