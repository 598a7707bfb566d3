"""Texts as projects have them, each with how much it matters, by our own judgement.

The rules were mended until they fit `SEEN`. `UNSEEN` was written and labelled before them, and mended nothing.
"""

from __future__ import annotations

from typing import Final

Example = tuple[str, str, str]
"""How much it matters, its kind, its text."""

SEEN: Final[tuple[Example, ...]] = (
    (
        "high",
        "decision",
        "We decided to keep Postgres 15 for the orders service and not to move to a document store.",
    ),
    (
        "high",
        "note",
        "Never run the migration script while the nightly import is active; it deadlocks the ledger table.",
    ),
    ("high", "note", "Agreed with finance: invoices are immutable once sent. Corrections are new documents."),
    (
        "high",
        "incident",
        "Outage on 3 May: the payment gateway rejected every card for 41 minutes. Root cause was an expired certificate.",
    ),
    (
        "high",
        "guide",
        "All uploads must be scanned before they are stored. Do not skip the scanner, also not in staging.",
    ),
    (
        "high",
        "note",
        "Security: the admin endpoint accepted requests without a token. Patched in 2.4.1, all tokens rotated.",
    ),
    (
        "high",
        "config",
        "Retention of audit events is seven years and required by law; changing this setting needs approval of legal.",
    ),
    (
        "high",
        "note",
        "Data loss possible: closing the laptop during a sync drops the last batch. Workaround until fixed: wait for the green dot.",
    ),
    (
        "high",
        "decision",
        "Release criteria: recall under 200 ms, no open blocker, supervisor green for a week.",
    ),
    (
        "high",
        "chat",
        "Ok then it is settled, we go with the queue and drop the cron job. Mara owns the change.",
    ),
    ("high", "note", "CVE-2031-1187 affects the image parser that we ship; upgrade to 9.3 before Friday."),
    (
        "medium",
        "guide",
        "To build the documentation, install the doc extra and run make html. The output is in build/html.",
    ),
    (
        "medium",
        "code",
        'def parse_header(line):\n    """Split a header line into name and value."""\n    name, _, value = line.partition(\':\')\n    return name.strip(), value.strip()',
    ),
    ("medium", "note", "The staging cluster has three nodes. Each runs the web tier and one worker."),
    (
        "medium",
        "note",
        "Customers in the trial use the export mostly on Mondays; the report takes about two minutes.",
    ),
    ("medium", "config", '[server]\nport = 8080\nworkers = 4\nlog_level = "info"'),
    (
        "medium",
        "guide",
        "The search page has three filters: region, price and date. Filters are combined with and.",
    ),
    (
        "medium",
        "commit",
        "Add paging to the list of orders\n\nThe list was slow with more than a thousand rows.",
    ),
    ("medium", "note", "Interview notes: Jonas would like a dark theme and shortcuts for the planner."),
    (
        "medium",
        "note",
        "The parser reads the file in blocks of 64 KiB and keeps the last incomplete line for the next block.",
    ),
    (
        "medium",
        "document",
        "Meeting of the platform group. Topics were the new dashboard, hiring, and the move of the office in June.",
    ),
    (
        "low",
        "log",
        "2031-02-11 08:14:02 INFO worker started\n2031-02-11 08:14:03 INFO connected to queue\n2031-02-11 08:14:09 INFO job 8812 done",
    ),
    ("low", "chat", "haha yes see you tomorrow :)"),
    (
        "low",
        "note",
        'Traceback (most recent call last):\n  File "app.py", line 31, in <module>\n    main()\n  File "app.py", line 12, in main\n    run()\nKeyError: \'user\'',
    ),
    ("low", "chat", "Thanks! Lunch at 12?"),
    ("low", "commit", "fix typo"),
    ("low", "note", "ok"),
    ("low", "log", "GET /health 200 3ms\nGET /health 200 2ms\nGET /health 200 3ms\nGET /health 200 2ms"),
    ("low", "commit", "Merge branch 'main' into feature/export"),
    (
        "low",
        "note",
        "java.lang.IllegalStateException: closed\n\tat com.acme.Pool.take(Pool.java:88)\n\tat com.acme.Job.run(Job.java:41)\n\tat java.base/java.lang.Thread.run(Thread.java:840)",
    ),
    ("low", "chat", "good morning everyone, how was the weekend?"),
    (
        "low",
        "log",
        "[12:00:01] DEBUG cache miss for key 77\n[12:00:01] DEBUG cache miss for key 78\n[12:00:02] DEBUG cache hit for key 77",
    ),
)

UNSEEN: Final[tuple[Example, ...]] = (
    (
        "high",
        "decision",
        "The mobile app will be written once, with the web stack in a shell; two native apps are too dear for us.",
    ),
    (
        "high",
        "note",
        "Under no circumstances may test data contain real names. This is part of the contract with the clinic.",
    ),
    (
        "high",
        "note",
        "After long discussion the team chose event sourcing for bookings, mainly because auditors want the full history.",
    ),
    (
        "high",
        "postmortem",
        "On Sunday the primary filled its disk and replicas stopped. Orders were lost between 02:10 and 02:26.",
    ),
    (
        "high",
        "guide",
        "Every release has to be signed by two people. It is forbidden to publish from a laptop.",
    ),
    (
        "high",
        "note",
        "An attacker could read other tenants' files through the preview service. The hole is closed since build 551.",
    ),
    (
        "high",
        "note",
        "The rate limit towards the bank is mandatory: more than 20 calls a second and they block our account.",
    ),
    ("high", "note", "Blocker for the launch: the consent banner is missing in the French version."),
    ("high", "decision", "Rejected: storing sessions in cookies. Reason: size and revocation."),
    ("high", "chat", "Decision from today's call: we freeze the schema on Thursday and ship on Monday."),
    (
        "high",
        "note",
        "Passwords are hashed with argon2id and never logged; whoever changes this needs a security review.",
    ),
    ("medium", "guide", "The planner shows one week. Use the arrows to move, and click on a day to open it."),
    (
        "medium",
        "code",
        "class RingBuffer:\n    def __init__(self, size):\n        self.items = [None] * size\n        self.at = 0\n\n    def push(self, item):\n        self.items[self.at % len(self.items)] = item\n        self.at += 1",
    ),
    ("medium", "note", "The warehouse in Lyon handles returns. Its opening hours are eight to four."),
    (
        "medium",
        "note",
        "Response times of the catalogue are around 80 ms, a third of it spent in the template engine.",
    ),
    ("medium", "config", "database:\n  host: db.internal\n  pool: 12\n  timeout: 30s"),
    (
        "medium",
        "document",
        "The fleet has forty vans. Half of them are electric and charge overnight at the depot.",
    ),
    ("medium", "commit", "Cache the exchange rates for an hour\n\nThe provider bills for each request."),
    (
        "medium",
        "note",
        "Feedback from the pilot: people look for the print button in the menu and not in the toolbar.",
    ),
    (
        "medium",
        "guide",
        "Each plugin is a folder with a manifest. The host reads the manifests in the order of their names.",
    ),
    (
        "medium",
        "note",
        "The importer understands CSV and JSON lines; columns that it does not know are kept as text.",
    ),
    (
        "low",
        "log",
        "Jan 04 03:12:55 host7 kernel: eth0 link up\nJan 04 03:12:58 host7 dhclient: bound to 10.0.0.7\nJan 04 03:13:02 host7 systemd: started session 4",
    ),
    ("low", "chat", "lol same here, talk later"),
    (
        "low",
        "note",
        "thread 'main' panicked at src/main.rs:14:9:\nindex out of bounds: the len is 3 but the index is 7\nstack backtrace:\n   0: rust_begin_unwind\n   1: core::panicking::panic_fmt\n   2: app::main",
    ),
    ("low", "chat", "sounds good, thank you!"),
    ("low", "commit", "wip"),
    ("low", "note", "test test 123"),
    (
        "low",
        "log",
        'time=12:01 level=info msg="tick"\ntime=12:02 level=info msg="tick"\ntime=12:03 level=info msg="tick"',
    ),
    ("low", "commit", "Bump version to 1.4.2"),
    (
        "low",
        "note",
        "TypeError: Cannot read properties of undefined (reading 'id')\n    at render (/srv/app/view.js:20:11)\n    at next (/srv/app/router.js:55:3)\n    at Layer.handle (/srv/app/layer.js:95:5)",
    ),
    ("low", "chat", "Hi all, coffee machine is working again"),
    (
        "low",
        "log",
        "npm notice created a lockfile\nadded 312 packages in 9s\n42 packages are looking for funding",
    ),
)
