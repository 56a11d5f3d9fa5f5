from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0007_batch_window"),
    ]

    operations = [
        migrations.AddField(
            model_name="templatetext",
            name="vendor_template",
            field=models.JSONField(
                blank=True,
                db_default={},
                default=dict,
                help_text='Chat: the approved template of WhatsApp, {"ids": {"whatsapp":'
                ' "order_shipped/en_US", "twilio": "HX..."}, "parameters": ["{{ name }}"]}.',
            ),
        ),
    ]
