"""Notifications: taken from any producer, handed to a provider, never lost, never sent twice.

    api  admin  management  tasks      entry points: HTTP, operators, shell, Celery
        |        |        |
      sweeps     |        |            beat's tasks: rows that are due, after a crash too
        |________|________|
           operations                  replay, test sends, imports: what operators start
           scheduling                  later, recurring, quiet hours, digests
            feedback                   receipts, inbound SMS, unsubscribe
        intake   delivery              a request to rows; rows to provider calls to outcomes
                |
              store                    bulk SQL, Redis scripts; the only writers
                |
              models                   tables
                |
        lanes   telemetry              publishing ids; the log line of each provider call
                |
          clock   conf                 time and random numbers; settings
                |
              rules                    pure decisions
                |
        providers (beside us)          vendors, behind one contract

Imports run downwards only. Words: a *producer* posts a *notification* for a *recipient*; each of
the recipient's *contacts* that the notification goes to is a *delivery*; each provider call of a
delivery is an *attempt*; a provider's later report is a *receipt*; every status move leaves an
*event*. A *lane* is the queue of one priority and channel; a *hold* is the reason why a delivery
waits; a delivery that gave up leaves a *dead letter*. `docs/glossary.md` has the other words.
"""
