# Prints /etc/notify/notify.env from a .env of Compose: without the passwords that go to other files, and without what only Compose reads.
# A comment goes with the setting below it.
BEGIN {
    print "# The settings of the processes on this host, beside docs/systemd/defaults.env. docs/settings.md has every setting and every provider."
    print "#"
    print "# Write values in single quotes: systemd takes each other character as it is. A value that has a single quote goes into double quotes,"
    print "# with a backslash before each \", \\, ` and $. A line with # shows the default or an example: remove the # to set it."
    other = "^#?(COMPOSE_PROFILES|TLS_FOLDER|POSTGRES_PASSWORD|DATABASE_OWNER_PASSWORD|NOTIFY_FLOWER_PASSWORD|HTTPS?_PORT|FRONT_SUBNET|[A-Z]+_IMAGE)="
}
/^# --- / {
    begun = 1
    held = ""
    sub(/The answers/, "Set these")
    sub(/: `manage\.py init`.*/, "")
    heading = "\n" $0 "\n"
    next
}
!begun { next }
/^#?[A-Z][A-Z0-9_]*=/ {
    if ($0 !~ other) {
        printf "%s%s%s\n", heading, held, $0
        heading = ""
    }
    held = ""
    next
}
{ if ($0 != "") held = held $0 "\n" }
