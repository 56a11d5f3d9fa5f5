"""Bulk jobs: one message to an audience, expanded in pages, at a rate.

figures       totals, statuses, progress, rate and expected end of a job
left_out      recipients without a message, and the reason
limits        shares of failures, bounces and complaints that abort a job
pace          the time of each message
request       the body of a new job
shares        the rows that each job of a lane may create
schedule_text the schedule of a job in words
variants      which recipient gets which variant, and who gets no message
watch_text    the progress as text, for a terminal
winner        the best variant of a sample
zones         the start time of each timezone
"""
