"""Store: bulk SQL and Redis scripts, the only writers. Every function takes a list.

postgres          tables: rows, statements (`sql/`), transitions of a status
redis             the state Redis: scripts (`lua/`), the sent-ledger, counters for `/metrics`
flight_recorder   notes about calls in a host's memory, which outlive a killed process
cached            small tables that operators edit, read again each second
rate_limits       breakers, send slots, producer limits, frequency caps, address limits
templates         template versions, and their cache in each process
recipient_tokens  signing keys, tokens, verification and revocation
"""
