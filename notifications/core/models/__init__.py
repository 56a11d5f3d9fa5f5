"""Django models: columns and constraints without behaviour, a module per group of tables.

    Producer --< ApiKey                     clients of the API
    TokenSecret, TokenRevocation            recipient tokens: secrets of producers, revocations
    Recipient --< Contact, -- Preference    people, addresses and preferences
    Suppression                             addresses to which nothing is sent
    Template --< TemplateText               versions of texts; a published version never changes
    ShortLink                               target and clicks of a link in an SMS
    TemplateEvent                           the history of a template
    NotificationType                        priority and category of a type
    ProviderRoute                           routing of channels to providers
    Price                                   prices of provider calls
    Budget --< BudgetDay, BudgetReservation     budgets, their ledgers, calls under way
    ReceiptPrice                                prices of receipts, till they settle a cost
    Notification --< Delivery --< Attempt   request, delivery to a contact, provider call
         `--------< Event                   status moves with reasons
    BulkJob --< BulkJobRange                one message to an audience; checkpoints of its expansion
    BulkJob --- BulkJobPace                 next free slot of a job with a rate
    BulkJob --< BulkJobAddress              addresses with a message of a running job
    BulkLane                                shares of the bulk jobs of a lane
    Topic --< TopicSubscriber, Attribute    named groups of recipients; definitions of attributes
    RecipientList --< RecipientListMember   fixed sets of recipients: uploads and snapshots
    Audience                                saved audience expressions
       `------< BulkJobFigure, BulkJobSample    counts by variant; samples of the progress
    HoldCheck                               recipients with changed settings, and held deliveries
    ErasureJob                              removal of a person's data
    ArchiveDay --< ArchiveFile              days past retention and their Parquet files
    ArchiveKey                              a person's key in the archive
    SealingJob                              encryption of variables declared sensitive later
    DeadLetter, ReplayJob                   failed deliveries and replays
    Breaker, BreakerEvent, ProviderPace     circuit breakers and rate limits of providers
    ProviderConnection                      last run of `manage.py connect` for a provider
    Schedule --< Occurrence                 recurring notifications and planned occurrences
    WebhookEndpoint --< WebhookMessage --< WebhookAttempt, WebhookPosition
                                            status webhooks to producers
    OrderingKey --< OrderedDelivery         deliveries in order of acceptance
    RollupSeries --< Rollup, RollupLatency, -- RollupValue, RollupPosition
                                            counts and latencies for analytics
    Alert --< AlertNotice >-- AlertDestination
                                            alerts, and notices of alerts to operators
    BacklogSample                           depth and lag of each priority in each minute
    LaneLag                                 lag of each lane now
    Inbox --< InboxItem --< InboxReport     in-app messages of a recipient; reports to deliveries
    InboxUncleared                          cached inboxes that a sweep has to clear
    IdempotencyKey, ReceivedText, Rejected, SweepRun, ChangeMark
    AuditEntry                              changes by operators and keys; append-only
    SignIn, ExternalIdentity                operators' sessions; identities of single sign-on
    Deploy                                  releases of this service

Notification, Delivery, Attempt and Event are partitioned by day on the leading id and have no
foreign keys; the id of a notification can be computed from the id of a delivery (see `rules.ids`).
Only `store/` writes the partitioned tables.
"""

from notifications.core.models.alert import Alert
from notifications.core.models.alert_destination import AlertDestination, AlertNotice
from notifications.core.models.archive import ArchiveDay, ArchiveFile, ArchiveKey, ArchiveState
from notifications.core.models.audience import (
    Attribute,
    Audience,
    RecipientList,
    RecipientListMember,
    Topic,
    TopicSubscriber,
)
from notifications.core.models.audit import AuditEntry
from notifications.core.models.backlog_sample import BacklogSample
from notifications.core.models.breaker import Breaker, BreakerEvent, ProviderPace
from notifications.core.models.budget import Budget, BudgetDay, BudgetReservation, ReceiptPrice
from notifications.core.models.bulk_job import (
    BulkJob,
    BulkJobAddress,
    BulkJobPace,
    BulkJobRange,
    BulkLane,
)
from notifications.core.models.bulk_job_figures import BulkJobFigure, BulkJobSample
from notifications.core.models.cancel_job import CancelJob
from notifications.core.models.connection import ProviderConnection
from notifications.core.models.dead_letter import DeadLetter, ReplayJob
from notifications.core.models.delivery import Attempt, Delivery, Event
from notifications.core.models.deploy import Deploy
from notifications.core.models.erasure import ErasureJob
from notifications.core.models.hold_check import HoldCheck
from notifications.core.models.housekeeping import (
    ChangeMark,
    IdempotencyKey,
    ReceivedText,
    Rejected,
    SweepRun,
)
from notifications.core.models.inbox import Inbox, InboxItem, InboxReport, InboxUncleared
from notifications.core.models.lane_lag import LaneLag
from notifications.core.models.notification import Notification, NotificationType
from notifications.core.models.ordering import OrderedDelivery, OrderingKey
from notifications.core.models.price import Price
from notifications.core.models.producer import ApiKey, Producer
from notifications.core.models.recipient import Contact, Preference, Recipient
from notifications.core.models.recipient_token import TokenRevocation, TokenSecret
from notifications.core.models.retry_preset import RetryPreset
from notifications.core.models.rollup import (
    Rollup,
    RollupLatency,
    RollupPosition,
    RollupSeries,
    RollupValue,
)
from notifications.core.models.route import ProviderRoute
from notifications.core.models.schedule import Occurrence, Schedule
from notifications.core.models.sealing import SealingJob
from notifications.core.models.short_link import ShortLink
from notifications.core.models.sign_in import ExternalIdentity, SignIn
from notifications.core.models.suppression import Suppression
from notifications.core.models.switch import Switch
from notifications.core.models.template import Template, TemplateEvent, TemplateText
from notifications.core.models.topic_text import TopicText
from notifications.core.models.webhook import (
    WebhookAttempt,
    WebhookEndpoint,
    WebhookMessage,
    WebhookPosition,
)
from notifications.core.models.withdrawal import Withdrawal

__all__ = [
    "Alert",
    "AlertDestination",
    "AlertNotice",
    "ApiKey",
    "ArchiveDay",
    "ArchiveFile",
    "ArchiveKey",
    "ArchiveState",
    "Attempt",
    "Attribute",
    "Audience",
    "AuditEntry",
    "BacklogSample",
    "Breaker",
    "BreakerEvent",
    "Budget",
    "BudgetDay",
    "BudgetReservation",
    "BulkJob",
    "BulkJobAddress",
    "BulkJobFigure",
    "BulkJobPace",
    "BulkJobRange",
    "BulkJobSample",
    "BulkLane",
    "CancelJob",
    "ChangeMark",
    "Contact",
    "DeadLetter",
    "Delivery",
    "Deploy",
    "ErasureJob",
    "Event",
    "ExternalIdentity",
    "HoldCheck",
    "IdempotencyKey",
    "Inbox",
    "InboxItem",
    "InboxReport",
    "InboxUncleared",
    "LaneLag",
    "Notification",
    "NotificationType",
    "Occurrence",
    "OrderedDelivery",
    "OrderingKey",
    "Preference",
    "Price",
    "Producer",
    "ProviderConnection",
    "ProviderPace",
    "ProviderRoute",
    "ReceiptPrice",
    "ReceivedText",
    "Recipient",
    "RecipientList",
    "RecipientListMember",
    "Rejected",
    "ReplayJob",
    "RetryPreset",
    "Rollup",
    "RollupLatency",
    "RollupPosition",
    "RollupSeries",
    "RollupValue",
    "Schedule",
    "SealingJob",
    "ShortLink",
    "SignIn",
    "Suppression",
    "SweepRun",
    "Switch",
    "Template",
    "TemplateEvent",
    "TemplateText",
    "TokenRevocation",
    "TokenSecret",
    "Topic",
    "TopicSubscriber",
    "TopicText",
    "WebhookAttempt",
    "WebhookEndpoint",
    "WebhookMessage",
    "WebhookPosition",
    "Withdrawal",
]
