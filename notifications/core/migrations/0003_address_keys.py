"""One key for each spelling of an address, for the look-ups of contacts and of suppressions."""

from django.db import migrations, models
from django.db.models import Func

_KEY = r"""
CREATE OR REPLACE FUNCTION suppressible(channel integer, address text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE
        WHEN channel = 3 THEN lower(address)
        WHEN channel = 2 AND address LIKE '+5%' THEN regexp_replace(regexp_replace(regexp_replace(
            address, '^\+521(\d{10})$', '+52\1'), '^\+54([1-3]\d{9})$', '+549\1'),
            '^\+55([1-9]{2})([689]\d{7}|7[1-6]\d{6})$', '+55\19\2')
        WHEN channel = 1 AND address LIKE '{%' THEN
            coalesce(substring(address FROM '"endpoint"\s*:\s*"([^"]+)"'), address)
        ELSE address
    END;
"""

_REPEATS = """
UPDATE notifications_suppression s
SET undone_at = now(), undone_by = 'migration', undo_note = 'another entry has the same address'
WHERE undone_at IS NULL AND address <> suppressible(channel, address) AND EXISTS (
    SELECT FROM notifications_suppression o
    WHERE o.channel = s.channel AND o.reason = s.reason AND o.undone_at IS NULL
      AND suppressible(o.channel, o.address) = suppressible(s.channel, s.address)
      AND (o.address = suppressible(o.channel, o.address) OR o.id < s.id)
);
"""
_RESPELL = """
UPDATE notifications_suppression SET address = suppressible(channel, address)
WHERE address <> suppressible(channel, address);
"""


class Migration(migrations.Migration):
    dependencies = [("notifications", "0002_hold_check")]

    operations = [
        migrations.RunSQL([_KEY, _REPEATS, _RESPELL]),
        migrations.RemoveIndex("contact", "contact_by_address"),
        migrations.AddIndex(
            "contact",
            models.Index(
                Func("channel", "address", function="suppressible"), name="contact_by_key"
            ),
        ),
    ]
