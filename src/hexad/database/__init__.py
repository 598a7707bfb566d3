"""One SQLite file and the files beside it: connections, commits, locks, leases, migrations, queues."""
