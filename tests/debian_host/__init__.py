"""The commands of docs/deploy-systemd.md on a bare Debian 12: `make host`, as root.

    debootstrap -> folder -> commands that need a network, in a chroot where no service starts
                          -> systemd as process 1 of namespaces of its own: all other commands

The commands are read from the page. Only a person's part is done here: the values that an editor
sets, the answer to `init`, a certificate, a mail server. After the first mail the
program kills workers during calls, stops everything, upgrades and starts the host anew. A run takes
six minutes.

No service of this machine is touched: the host has processes, mounts, a network (loopback alone)
and a cgroup of its own. All of them end with the program, also when it is killed; then a folder in
/var/tmp and an empty cgroup stay. The commit HEAD is installed, without changes that are not
committed.
"""
