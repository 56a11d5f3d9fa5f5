"""Notifications: taken from any producer, handed to a provider, never lost, never sent twice.

    api  admin  management  tasks      doors: HTTP, operators, shell, Celery
        |        |        |
      sweeps     |        |            beat's work: what makes the promises hold after a crash
        |________|________|
             pipeline                  the journey, one verb a file
                |
              store                    bulk SQL, Redis scripts; the only writers
                |
              models                   tables
                |
        lanes   telemetry              publishing ids; the wide log line
                |
          clock   conf                 time and chance; settings
                |
              rules                    pure decisions
                |
        providers (beside us)          vendors, behind one contract

Imports run downwards only. Words: a *producer* asks for a *notification* to a *recipient*; each
*contact* of theirs that it goes to is a *delivery*; each provider call of it is an *attempt*; what
the provider says later is a *receipt*; every status move leaves an *event*. A *lane* is the queue
of one priority and channel; a *hold* is why a delivery waits; what gave up is a *dead letter*.
"""
