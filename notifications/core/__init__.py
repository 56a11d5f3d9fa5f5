"""The core: a notification is accepted, delivered through a provider, and recorded.

    api  admin  management  tasks      entry points: HTTP, operators, shell, Celery
         deploy_checks                 the warnings of `manage.py check --deploy`
        |        |        |
     sweeps      |        |            beat's tasks: due rows, also after a crash
        |________|________|
    alerting  figures  operations      notices; answers from roll-ups; replay, cancel, imports
           scheduling                  later, quiet hours
            feedback                   receipts, inbound SMS, unsubscribe
        intake   delivery              a request to rows; rows to provider calls to outcomes
                |
             webhooks                  status webhooks to producers
                |
              store                    bulk SQL, Redis scripts; the only writers
                |
              models                   tables
                |
        lanes   telemetry              publishing ids; log lines, metrics and traces
                |
         amqps   broker                RabbitMQ over TLS; the availability of the broker
                |
          templatetags                 filters of templates
                |
          gate   feature               places of features in lists; the manifests of the features
                |
     clock   conf   stopping           time and random numbers; settings; the stop flag
     server_faults   server_tls        the fault of a server in words; TLS parameters of URLs
     supervised                        what the supervisor of a small installation says
                |
             rabbitmq                  time limits of RabbitMQ's answers
                |
              rules                    pure decisions
                |
        providers (own package)        vendors, behind one contract

Imports run downwards only. Words: a *producer* posts a *notification* for a *recipient*; a message
to a *contact* of the recipient is a *delivery*; a provider call of a delivery is an *attempt*; a
provider's later report is a *receipt*; a status change leaves an *event*. A *lane* is the queue of
a priority and channel; a *hold* is the reason of a wait; a failed delivery leaves a *dead letter*.
`docs/glossary.md` has the other words.
"""
