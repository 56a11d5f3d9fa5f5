"""Notifications: accepted from any producer, delivered through a provider, with a full record.

    features   Django apps on top of the core; an installation can leave out a feature
       |
     core      the Django app `notifications`: accepts, delivers and records

The core sends without any feature and imports no feature. `notifications/core` has a map of the
packages. INSTALLED_APPS in `notifyproj/settings.py` lists the features.
"""
