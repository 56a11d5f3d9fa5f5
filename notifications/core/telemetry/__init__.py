"""Telemetry of a process: log lines, metrics and traces.

    log_lines       lines for standard error, among them the line of each provider call
    instruments     counters and histograms
    exposition      the instruments as text, for `/metrics` of the web processes and of each worker
    process_number  numbers of the processes that share one folder of metric files
    traces          whether spans are exported
    spans           spans for OpenTelemetry; imported only if spans are exported

No request and no provider call waits for a reader of log lines, metrics or spans.
"""

from notifications.core.telemetry.log_lines import CALL, STDERR, Lines, write_calls, write_request

__all__ = ["CALL", "STDERR", "Lines", "write_calls", "write_request"]
