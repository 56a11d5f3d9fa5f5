"""Every log event of the product, collected from the code, and the meaning of each."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_FOLDERS: Final = ("notifications", "providers", "notifyproj")
_LEVELS: Final = frozenset({"debug", "info", "warning", "error", "exception", "critical"})

MEANINGS: Final[Mapping[str, str]] = {
    "HTTP: no socket can be opened: %s": "The process or its host has no free descriptor or memory"
    " for a connection to a provider: raise the limit of open files. Deliveries go back to the"
    " queue.",
    "SES: %s: %s": "Amazon SES did not tell the account's sending rate; the provider's default rate"
    " holds.",
    "SMS gateway: %s of %s entries of a callback unread: %s": "Entries of a callback have no"
    " status, or name no message; the others count.",
    "WhatsApp: %s of %s items of a callback unread": "Items of a callback have another form,"
    " such as a message without a number; the others count.",
    "alert_not_raised": "PostgreSQL did not take an alert about refusals of a provider.",
    "alert_notice": "A notice of an alert was sent to a destination, or was not: `error`.",
    "alert_subject_unknown": "An open alert `breaker_open` names no known channel; it stays open.",
    "archive_exports_again": "Rows changed after the export; the tables are exported again.",
    "archive_file_written": "A table of a day was exported to a file, which is verified next.",
    "archive_files_left": "Files of an expired day are not below NOTIFY_ARCHIVE_URL and stay.",
    "archive_files_lost": "Files of a day are gone or cut short; the tables are exported again.",
    "archive_lease_lost": "Another process continued a day of the archive.",
    "batch_halved": "A batch of a sweep raised an exception; its halves are tried.",
    "bounces_not_believed": "`count` bounces are too many to be believed; their contacts stay.",
    "breaker": "A circuit breaker tripped, let a probe pass or closed; `kind` says which.",
    "breaker_not_noted": "PostgreSQL did not take the event of a circuit breaker.",
    "broker_away": "The broker takes no messages: workers read what is due from PostgreSQL.",
    "broker_back": "The broker takes messages again.",
    "broker_connection_left": "A worker gave up a broken connection to the broker and reconnects.",
    "bulk_job_locked": "A bulk job was left out because another process had a lock on its slots.",
    "bulk_job_not_checked": "The check of a bulk job raised an exception; the next run goes on.",
    "bulk_job_paused": "The service paused a bulk job whose template or audience was deleted.",
    "certificate_ends": "A certificate in a file of a setting ends within 14 days, or has ended.",
    "clock_not_compared": "The host's clock could not be compared with PostgreSQL's; `cause`: why.",
    "clock_off": "The host's clock differs too much from PostgreSQL's: the process stops working.",
    "clock_right_again": "The host's clock agrees with PostgreSQL's again: the process works on.",
    "contact_notice_refused": "The notice about a changed contact was rejected at accept.",
    "contact_moved": "A provider named the address that replaced a contact's; `kept_address`: the"
    " contact was changed meanwhile, or the recipient has the new address.",
    "contacts_not_ended": "PostgreSQL took no ends of contacts, after refused calls or after an"
    " accepted call that confirmed earlier refusals; the next refusal is judged again.",
    "contacts_not_moved": "PostgreSQL took no new addresses of contacts; the next call names them.",
    "database_disk_full": "PostgreSQL had no room for a write: make room on its disk.",
    "database_sessions_used_up": "PostgreSQL or a pooler refused a session because other programs"
    " have all of them: end sessions, or raise `max_connections`.",
    "day_not_archived": "A day past retention stays in PostgreSQL; the next run tries again.",
    "digest_does_not_fit": "The digest template cannot be rendered: messages stay single.",
    "digested": "Messages were merged into digests; `merged` counts them.",
    "direct_look_failed": "A worker could not read due deliveries; the next look comes in seconds.",
    "direct_work_failed": "A delivery task that ran without the broker failed; its rows come due.",
    "inbox_not_cleared": "Cached inboxes could not be cleared; old pages stay for an hour at most.",
    "inbox_away": "In-app messages could not be stored, because the database was away; they wait.",
    "import_finished": "`manage.py import_from`, the API or the admin has imported files.",
    "kept_answer_unreadable": "A repeat got 503: the first answer has the form of another release.",
    "lane_not_relayed": "A lane could not be published because of a lock or a lost connection.",
    "lane_not_swept": "A sweep left out a lane because of a lock or a lost connection.",
    "lane_paused": "The tasks of a lane fail: each process tries one of its rows a second.",
    "lane_resumed": "A row of a paused lane passed: the lane goes on.",
    "ledger_entry_unreadable": "An entry of the sent-ledger cannot be read; it is no evidence.",
    "lines_dropped": "The reader of standard error was too slow: `count` lines are missing.",
    "live_database_away": "A live process cannot read PostgreSQL: streams stay without events.",
    "live_database_back": "A live process reads PostgreSQL again.",
    "live_round_failed": "A round of a live process raised an exception and is repeated.",
    "live_subscriptions_begin": "A live process is connected to the state Redis and subscribes.",
    "live_subscriptions_lost": "A live process lost the state Redis and compares versions.",
    "look_not_stored": "PostgreSQL did not take the alert of a process about itself; `look`"
    " names the thread.",
    "rows_not_ended": "Deliveries that no claim takes did not end; the sweep `expiry` ends them.",
    "lost_by_broker": "Published P0 and P1 without a claim were made due again.",
    "lost_by_relay": "P0 and P1 of a relay that died before its publish were made due again.",
    "metrics_not_served": "No port of NOTIFY_METRICS_LISTEN was free; the process works unscraped.",
    "metrics_served": "A worker or beat serves its metrics at this port.",
    "outcomes_left_to_rescue": "A stopping worker could not write outcomes for 15 seconds; the"
    " sent-ledger has them, and the rescue settles the deliveries.",
    "page_not_expanded": "A page of a bulk job raised an exception; the next run tries again.",
    "periodic_tasks_read": "Beat has read its periodic tasks for the first time, and sends them.",
    "periodic_task_deleted": "`migrate` deleted a periodic task that this release does not have.",
    "pauses_not_read": "The open alerts could not be read; no lane counts as paused.",
    "provider_check": "A paused provider without traffic was checked; a good check closes the"
    " breaker.",
    "provider_call": "One call of a provider: outcome, code, latency, ids; no address, no body.",
    "provider_checked": "An operator checked a provider's credentials in admin.",
    "provider_connected": "`manage.py connect` ran for a provider; `bad` lines are missing.",
    "provider_tried": "An operator sent a test through a provider in admin.",
    "erasure_job_failed": "An erasure job raised an exception; the next run tries it again.",
    "fallback_opened": "A fallback chain has opened the next channel of a notification.",
    "publish_failed": "The broker did not take a message; its deliveries are due at once.",
    "receipts_looked_up": "Receipts that a vendor told when asked; `known`: messages with a"
    " receipt, `failed`: bad news, `changed`: deliveries that changed.",
    "receipts_never_told": "A vendor had no receipt of messages for as long as it keeps receipts.",
    "receipts_not_looked_up": "A vendor did not answer a question for receipts; the service asks"
    " again in 15 minutes.",
    "receipts_without_effect": "Receipts that changed nothing: repeated, late or of no delivery.",
    "recipient_left_out": "The rows of a recipient of a bulk job were refused; the others go on.",
    "recipient_token_refused": "A recipient token was refused for `reason`; `producer_id` names the"
    " producer of the key that the token claims.",
    "replica_left": "A process left the read replica for the primary; `cause` says why.",
    "replica_read_again": "A read failed on the read replica and was run again on the primary.",
    "replica_used_again": "The read replica is used again; `cause` says why it was left.",
    "refusals_not_noted": "Rejected requests could not be stored for `Rejected requests`.",
    "cancel_job_failed": "A cancel job raised an exception; the next run tries again.",
    "dead_letter_not_replayed": "A dead letter raised an exception in its replay, or was refused"
    " for the moment: it left the job and stays open.",
    "repeats_not_counted": "Outcomes are stored, and PostgreSQL was away for the count of repeats.",
    "replay_job_failed": "A replay job raised an exception; the next run tries again.",
    "request": "One HTTP request: route, status, duration, trace id.",
    "retry_not_published": "A retry was not published; the sweep `retry` finds it.",
    "rollup_position_lost": "The position of the roll-ups is of another database, as after a"
    " restore; the count continues with new changes, and `manage.py recount_rollups` counts earlier"
    " days.",
    "rollup_values_limited": "A day has more types, templates or producers than have figures of"
    " their own; the further ones count as `other`.",
    "row_not_swept": "One row raised an exception in a sweep and is left as it is.",
    "rows_locked": "Rows that another transaction held were left out of a write; they follow.",
    "schedule_failed": "A schedule raised an exception and is set aside for a while.",
    "second_result_of_a_call": "An adapter gave a result behind an acceptance; it is ignored.",
    "sent_ledger_not_read": "The state Redis did not answer: deliveries of dead workers wait.",
    "spans_not_recorded": "The trace of calls could not be recorded; their outcomes are settled.",
    "answers_not_noted": "The sent-ledger was not written; the outcomes are settled.",
    "flight_recorder_full": "More calls wait for a settle than the flight recorder has room for.",
    "flight_recorder_off": "The folder of the flight recorder is not usable: calls of a killed"
    " worker are unanswered.",
    "flight_recorder_read": "Notes of dead processes of this host were put into the sent-ledger.",
    "server_not_verified": "The URL in `variable` switches a part of the verification of TLS off.",
    "settled_one_by_one": "A batch of outcomes could not be stored; each is stored alone.",
    "custom_event_failed": "A custom event raised an exception and has no effect on series; it is"
    " tried again for a day.",
    "enrolment_failed": "A step of a series raised an exception; the sweep tries again later.",
    "daily_report_refused": "The daily report of an operator was not accepted; `reason` tells why.",
    "identity_provider_unavailable": "The identity provider gave no usable answer; `reason` tells"
    " why.",
    "single_sign_on_invalid": "A check of a sign-in failed: state, nonce, signature or claims.",
    "single_sign_on_refused": "A person of the identity provider may not sign in; the audit log has"
    " the subject.",
    "short_path_off": "Each request of the web process holds a thread and takes Django's path, at"
    " several times the CPU: start the server by `python -m notifyproj.web`, on Linux.",
    "sign_in_not_counted": "The state Redis is away: sign-ins are not throttled.",
    "preferences_saved": "A recipient changed the preferences on the preference page.",
    "snapshot_failed": "A snapshot of an audience raised an exception.",
    "sweep_failed": "A sweep raised an exception; the line has the traceback.",
    "sweep_not_reported": "PostgreSQL did not answer at the begin or end of a sweep.",
    "swept": "A sweep moved rows (`moved`) or failed at rows (`failed`).",
    "removal_received": "A provider took an address off its suppression list; `changed` is the"
    " number of our entries that end.",
    "text_received": "An inbound SMS; `keyword` names STOP, START or HELP.",
    "unsubscribe_undone": "A recipient took an opt-out back on the unsubscribe page.",
    "unsubscribed": "A recipient opted out by an unsubscribe link.",
    "wave_not_started": "A worker made no calls, because its host gave no thread or the leases were"
    " almost over; the deliveries returned to the queue.",
    "webhook_position_lost": "The position of the webhook fan-out lies ahead of the database, as"
    " after a restore; the fan-out continues with new changes.",
    "withdrawals_called": "A provider was told to remove messages; has the outcomes.",
    "work_not_read": "Beat could not ask PostgreSQL which sweeps have work, and sends their tasks.",
    "works_by_fallback": "A process has worked for half a minute without the broker or the state"
    " Redis, or beside another beat.",
    "works_without_fallback": "A process reaches the broker or the state Redis again, or is the"
    " only beat again.",
    "write_repeated": "PostgreSQL did not take outcomes; the worker keeps them and tries again.",
    "visit_not_recorded": "The database did not store an opening or a click; the link worked.",
}
"""Event -> what happened, in one sentence."""


@dataclass
class Written:
    """Where an event is written, and with what."""

    levels: set[str] = field(default_factory=set)
    fields: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)


def collect(root: Path = ROOT) -> dict[str, Written]:
    """Return every event under `root`, by name.

    Raises:
        ValueError: a call of `_log` names its event by something else than a literal.
    """
    events: dict[str, Written] = {}
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            module = path.relative_to(root).as_posix()
            for name, level, fields in _events(ast.parse(path.read_text()), module):
                written = events.setdefault(name, Written())
                written.levels.add(level)
                written.fields.update(fields)
                written.modules.add(module)
    return dict(sorted(events.items()))


def _events(tree: ast.AST, module: str) -> Iterator[tuple[str, str, set[str]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_log(node.func):
            assert isinstance(node.func, ast.Attribute)
            event = node.args[0] if node.args else None
            if not (isinstance(event, ast.Constant) and isinstance(event.value, str)):
                raise ValueError(f"{module}:{node.lineno}: a log event must be a literal string")
            fields = {keyword.arg for keyword in node.keywords if keyword.arg}
            level = node.func.attr
            yield event.value, "error" if level == "exception" else level, fields
        elif isinstance(node, ast.Dict):
            yield from _of_dict(node)


def _is_log(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr in _LEVELS
        and isinstance(function.value, ast.Name)
        and function.value.id.lower().strip("_") in {"log", "logger"}
    )


def _of_dict(node: ast.Dict) -> Iterator[tuple[str, str, set[str]]]:
    """Yield the event of a line that is written past the logging framework."""
    pairs = {
        key.value: value.value
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)
    }
    if "event" in pairs and "level" in pairs:
        yield str(pairs["event"]), str(pairs["level"]), set()
