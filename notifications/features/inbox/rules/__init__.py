"""Rules of inboxes.

words    tabs, actions and causes of removals
"""
