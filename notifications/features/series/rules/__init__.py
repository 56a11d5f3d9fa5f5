"""Series: the definition of the steps, and the next step of an enrolment.

    definition     the schema of a definition, with a JSON pointer for each fault
    conditions     what a condition asks: messages, events, combinations
    program        the steps by pointer, and the step that follows each step
    advance        from a position and facts to the next send, wait or end; the end of a wait
    states         the states of a series and of an enrolment
    wording        the steps in words, for operators
    custom_events  the body of `POST /v1/events`

A position is the JSON pointer of a step in the definition, such as `/steps/2/then/0`. A published
definition never changes, so a position stays valid as long as its enrolment runs.
"""
