"""Connect: `manage.py connect` checks and repairs a provider's account and reads its lists.

    runs          the steps of a run: findings, changes, suppression list, rate, plan
    management    the command

The model `ProviderConnection` with the findings of the last run belongs to the core, because the
page "Providers" of the admin shows the findings beside the other facts of a provider.
"""
