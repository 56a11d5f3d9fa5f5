"""Six stories that check the product's promises against a running product.

    environment        API, sandbox, keys, worker processes, broker
    report             output of a story: timelines, tables, checks
    single_messages    stories 1 to 4: single notifications, from success to failure
    load_and_failure   stories 5 and 6: an OTP among thousands of mails, killed workers and a wiped
                       broker

A story uses the product as a producer's service does, over HTTP with a key, and reads the received
messages from the sandbox. No story reads the database. Stories 4 and 6 also cause faults: story 4
pauses workers, and story 6 kills workers and wipes the broker. A check is about an order or a
number, and a table shows the times: how long a message takes depends on the machine.

The stories share no code with `tests/scenarios`: `make demo` installs the locked runtime packages
only, without pytest, and the scenarios read the database.
"""
