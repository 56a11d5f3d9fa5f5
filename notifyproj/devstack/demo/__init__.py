"""Six stories that show what the product promises, played against a running one.

    scene      where everything is: API, sandbox, keys, worker processes
    telling    what a story says: timelines, checks, held or not
    errands    stories 1 to 4: one notification each, from the happy to the hopeless
    crowds     stories 5 and 6: an OTP among thousands of mails, a killed worker and a wiped broker

A story speaks to the product as a producer's service does, over HTTP with a key, and looks at the
sandbox as the person would at a phone. It never looks into the database, so what it shows anybody
can see. Stories 4 and 6 also send signals to workers and wipe the broker: those are what happens
to a product, not what it is asked to do.
"""
