"""Formats of vendors: each module reads the files of one vendor (`export.Read`).

novu              workflows; subscribers with credentials and preferences
knock             folders of `knock workflow pull`; users with preferences
govuk_notify      templates; CSV of recipients
listmonk          subscribers, lists, transactional templates
onesignal         CSV of subscriptions
firebase          users of Authentication; tokens of FCM by user
ses               suppression list of an account
sendgrid          bounces, blocks, spam reports, invalid addresses, unsubscribes
postmark          suppressions of a message stream
recipient_csv     CSV of recipients in the columns of this service
steps             channel steps and preferences, common to Novu and Knock
suppressed        entries of the suppression list, common to SES, SendGrid and Postmark
registry          name -> reader
"""
