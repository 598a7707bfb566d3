"""The words of the suite of changing facts: who and what it is about, values, and several ways to say and to ask each.

In a phrase `{s}` is the subject, `{v}` the value, `{o}` the value before, `{when}` a month and a year, `{day}` a date.
"""

from __future__ import annotations

from dataclasses import dataclass

FIRST_NAMES = (
    "Ann",
    "Anna",
    "Annika",
    "Jon",
    "John",
    "Jonas",
    "Mara",
    "Maria",
    "Marion",
    "Lee",
    "Leo",
    "Lena",
)
LAST_NAMES = ("Berg", "Bergman", "Berger", "Holm", "Holmes", "Lind")
SERVICE_STEMS = ("billing", "search", "orders", "login", "reports", "catalog", "invoices", "payments", "mail")
SERVICE_ENDS = ("api", "api-v2", "web", "worker")
COMPONENTS = ("checkout", "checkout-legacy", "basket", "gateway", "gateway-edge", "scheduler", "importer", "exporter",
              "dashboard", "admin", "notifier", "ledger-view", "profile", "uploads", "archive", "webhooks")  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """How people speak about one attribute."""

    attribute: str
    values: tuple[str, ...]
    said: tuple[str, ...]
    changed: tuple[str, ...]
    was: str
    """What a late report says: it held from `{when}` on, and is told now."""
    will: str
    """What is known to come: it holds from `{day}` on."""
    asked: tuple[str, ...]
    asked_then: tuple[str, ...]
    asked_before: tuple[str, ...]
    mentions: tuple[str, ...]
    """Sentences with such a value and a subject that say nothing of the attribute."""


CITIES = ("Oslo", "Rome", "Bern", "Lyon", "Porto", "Ghent", "Turin", "Malmo", "Graz", "Cork", "Leeds", "Bergen",
          "Utrecht", "Seville", "Krakow", "Tartu")  # fmt: skip
COMPANIES = ("Northwind", "Brightline", "Halden Works", "Sable Systems", "Corvid Labs", "Ferrous", "Tidewater",
             "Quillstone", "Maplegate", "Redshank", "Ostler", "Pinecone Data")  # fmt: skip
EDITORS = ("Vim", "Emacs", "Helix", "Zed", "Sublime", "Kakoune", "Nano", "Acme", "Geany", "Kate")
DIETS = ("vegan", "vegetarian", "gluten free", "kosher", "halal", "pescatarian", "low salt", "lactose free")
TEAMS = ("Platform", "Growth", "Risk", "Support", "Mobile", "Insights", "Security", "Fulfilment", "Research")
DESKS = tuple(f"{floor}{row}{seat}" for floor in (1, 2, 3, 4) for row in "ABC" for seat in (2, 5, 7))
DATABASES = ("PostgreSQL", "MySQL", "SQLite", "MongoDB", "CockroachDB", "MariaDB", "Cassandra", "DynamoDB")
PORTS = tuple(str(port) for port in (7001, 7044, 7310, 8080, 8181, 8443, 8800, 9000, 9090, 9191, 9443, 9600))
REGIONS = ("eu-west", "eu-north", "us-east", "us-central", "ap-south", "sa-east", "af-south", "me-central")
LANGUAGES = ("Python", "Go", "Rust", "Kotlin", "Elixir", "TypeScript", "Java", "Scala", "Ruby")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
SPOKEN = ("Danish", "Welsh", "Basque", "Finnish", "Greek", "Polish", "Tamil", "Swahili", "Catalan", "Latvian")
CHANNELS = ("PagerDuty", "Slack", "e-mail", "SMS", "Opsgenie", "Matrix", "Zulip", "the wall display")

PEOPLE = (
    Phrases(
        attribute="city",
        values=CITIES,
        said=("{s} lives in {v}.", "{s} has a flat in {v}, close to the station.", "Home for {s} is {v}.",
              "{s} told me over lunch that {v} is where the house is.", "{s}: based in {v}."),
        changed=("{s} moved to {v}.", "{s} has left {o}; it is {v} now.", "Not {o} any more: {s} lives in {v}.",
                 "The new address of {s} is in {v}.", "{s} packed everything up and settled in {v}."),
        was="I only learned today that {s} used to live in {v} from {when} on.",
        will="From {day} on {s} will live in {v}.",
        asked=("Where does {s} live?", "Which city is home for {s}?", "In what town would I find {s} at home?",
               "Where is {s} living now?"),
        asked_then=("Where did {s} live in {when}?", "Which city was home for {s} in {when}?"),
        asked_before=("Where did {s} live before?", "In which cities has {s} lived, one after the other?"),
        mentions=("{s} liked the pictures of {v} that went round.", "{s} booked a weekend in {v} for the family."),
    ),
    Phrases(
        attribute="employer",
        values=COMPANIES,
        said=("{s} works for {v}.", "{s} is employed at {v}.", "{v} pays the salary of {s}.",
              "The badge of {s} says {v}.", "{s} has a job with {v}, in engineering."),
        changed=("{s} signed with {v}.", "{s} quit {o} and joined {v}.", "{s} was hired away from {o} by {v}.",
                 "{s} changed jobs: {v} from this week.", "As of today {s} is at {v}."),
        was="It came up that {s} worked for {v} from {when} on.",
        will="{s} starts to work for {v} on {day}.",
        asked=("Who does {s} work for?", "Which company employs {s}?", "Where is {s} employed?",
               "What is the name of the employer of {s}?"),
        asked_then=("Who did {s} work for in {when}?", "Which company employed {s} in {when}?"),
        asked_before=("Who did {s} work for before?", "For which companies has {s} worked so far?"),
        mentions=("{s} met somebody from {v} at the fair.", "{s} reads everything that {v} publishes."),
    ),
    Phrases(
        attribute="editor",
        values=EDITORS,
        said=("{s} writes code in {v}.", "The editor of {s} is {v}.", "{s} swears by {v} for editing.",
              "{s} does all the typing in {v}.", "Ask {s} about {v}: it is the editor on that machine."),
        changed=("{s} switched to {v}.", "{s} gave up {o} for {v}.", "{s} now edits with {v}.",
                 "{s} uninstalled {o} and is happy with {v} as an editor.", "New editor for {s}: {v}."),
        was="{s} mentioned having used the editor {v} from {when} on.",
        will="{s} will change the editor to {v} on {day}.",
        asked=("Which editor does {s} use?", "What does {s} write code in?", "What is the editor of choice of {s}?",
               "In which program does {s} edit?"),
        asked_then=("Which editor did {s} use in {when}?", "What did {s} write code in in {when}?"),
        asked_before=("Which editor did {s} use before?", "Which editors has {s} gone through?"),
        mentions=("{s} fixed a bug in the plug-in for {v}.", "{s} gave a talk about the history of {v}."),
    ),
    Phrases(
        attribute="diet",
        values=DIETS,
        said=("{s} eats {v}.", "For catering: {s} is {v}.", "Food for {s} has to be {v}.",
              "{s} asked for {v} meals.", "{s} keeps to a {v} diet."),
        changed=("{s} eats {v} now.", "{s} is no longer {o}: {v} from now on.", "Change for the kitchen: {s}, {v}.",
                 "{s} wrote that meals should be {v} after all.", "{s} has changed over to {v} food."),
        was="As it turns out, {s} ate {v} from {when} on.",
        will="From {day} on {s} wants to eat {v}.",
        asked=("What does {s} eat?", "Which diet does {s} keep?", "What food should we order for {s}?",
               "What do I tell the caterer about {s}?"),
        asked_then=("What did {s} eat in {when}?", "Which diet did {s} keep in {when}?"),
        asked_before=("What did {s} eat before?", "Which diets has {s} kept so far?"),
        mentions=("{s} knows a place that does {v} dishes.", "{s} brought a {v} cake for everybody."),
    ),
    Phrases(
        attribute="team",
        values=TEAMS,
        said=("{s} is on the {v} team.", "{s} belongs to {v}.", "You find {s} in the {v} group.",
              "{v} is the team of {s}.", "{s} reports into {v}."),
        changed=("{s} was moved to the {v} team.", "{s} changes from {o} to {v}.", "{s} joined {v} after the reshuffle.",
                 "The {v} team has a new member: {s}.", "{s} says goodbye to {o} and hello to {v}."),
        was="The records show that {s} belonged to the {v} team from {when} on.",
        will="On {day} {s} goes over to the {v} team.",
        asked=("Which team is {s} on?", "What group does {s} belong to?", "Whose team does {s} sit with?",
               "What is the team of {s}?"),
        asked_then=("Which team was {s} on in {when}?", "What group did {s} belong to in {when}?"),
        asked_before=("Which team was {s} on before?", "Through which teams has {s} come?"),
        mentions=("{s} lent the projector to {v}.", "{s} reviewed a proposal of {v}."),
    ),
    Phrases(
        attribute="desk",
        values=DESKS,
        said=("{s} sits at desk {v}.", "Desk {v} is taken by {s}.", "The place of {s} is {v}.",
              "Parcels for {s} go to desk {v}.", "{s} has the desk {v}."),
        changed=("{s} moved to desk {v}.", "{s} gave up desk {o} for {v}.", "{s} is to be found at desk {v} now.",
                 "Seating plan changed: {s} at {v}.", "{s} swapped places and has desk {v}."),
        was="According to the old plan {s} sat at desk {v} from {when} on.",
        will="From {day} on {s} will sit at desk {v}.",
        asked=("Where does {s} sit?", "Which desk is that of {s}?", "At which desk do I find {s}?",
               "What is the number of the desk of {s}?"),
        asked_then=("Where did {s} sit in {when}?", "Which desk was that of {s} in {when}?"),
        asked_before=("Where did {s} sit before?", "At which desks has {s} sat so far?"),
        mentions=("{s} left a mug at {v}.", "{s} repaired the lamp above {v}."),
    ),
)  # fmt: skip

SERVICES = (
    Phrases(
        attribute="database",
        values=DATABASES,
        said=("{s} keeps its data in {v}.", "The database behind {s} is {v}.", "{s} runs on top of {v}.",
              "Storage of {s}: {v}.", "We put the tables of {s} into {v}."),
        changed=("{s} was migrated to {v}.", "{s} dropped {o}; its database is {v} now.",
                 "The move of {s} from {o} to {v} is done.", "{s} talks to {v} since the migration.",
                 "Cut-over finished, {s} stores everything in {v}."),
        was="The wiki says that {s} kept its data in {v} from {when} on.",
        will="{s} will be moved to {v} as its database on {day}.",
        asked=("Which database does {s} use?", "Where does {s} keep its data?", "What does {s} store its tables in?",
               "What is the storage behind {s}?"),
        asked_then=("Which database did {s} use in {when}?", "Where did {s} keep its data in {when}?"),
        asked_before=("Which database did {s} use before?", "In which databases has {s} kept its data over time?"),
        mentions=("The load test of {s} was compared with figures for {v}.", "Somebody asked on the page of {s} how {v} scales."),
    ),
    Phrases(
        attribute="port",
        values=PORTS,
        said=("{s} listens on port {v}.", "The port of {s} is {v}.", "Point the proxy to {v} for {s}.",
              "{s} answers at port {v}.", "Health checks of {s} go to port {v}."),
        changed=("{s} listens on port {v} now.", "The port of {s} was changed from {o} to {v}.",
                 "{s} gave up port {o}; it is {v}.", "Since the clash {s} answers at port {v}.",
                 "New port for {s}: {v}."),
        was="An old config shows {s} on port {v} from {when} on.",
        will="From {day} on {s} will listen on port {v}.",
        asked=("Which port does {s} listen on?", "What is the port of {s}?", "At which port does {s} answer?",
               "Where do the health checks of {s} go?"),
        asked_then=("Which port did {s} listen on in {when}?", "What was the port of {s} in {when}?"),
        asked_before=("Which port did {s} listen on before?", "Which ports has {s} had over time?"),
        mentions=("A scan of the host of {s} found {v} closed.", "The readme of {s} has an example with {v}."),
    ),
    Phrases(
        attribute="region",
        values=REGIONS,
        said=("{s} is deployed in {v}.", "The region of {s} is {v}.", "{s} runs in {v} only.",
              "{s}: hosted in {v}.", "Machines for {s} are in {v}."),
        changed=("{s} was relocated to {v}.", "{s} left {o} and runs in {v}.", "{s} is hosted in {v} since the move.",
                 "The region of {s} is {v} from today.", "We evacuated {s} from {o} to {v}."),
        was="The bill shows that {s} ran in {v} from {when} on.",
        will="{s} will be relocated to {v} on {day}.",
        asked=("In which region does {s} run?", "Where is {s} hosted?", "Where are the machines for {s}?",
               "Which region is {s} deployed in?"),
        asked_then=("In which region did {s} run in {when}?", "Where was {s} hosted in {when}?"),
        asked_before=("In which region did {s} run before?", "Through which regions has {s} moved?"),
        mentions=("Customers of {s} in {v} complained about latency.", "A price list for {v} is linked from {s}."),
    ),
    Phrases(
        attribute="owner",
        values=TEAMS,
        said=("{s} is owned by {v}.", "{v} takes care of {s}.", "Questions about {s} go to {v}.",
              "The owner of {s} is {v}.", "{v} is responsible for {s}."),
        changed=("{s} was handed over to {v}.", "{v} took {s} over from {o}.", "{s} belongs to {v} now, not to {o}.",
                 "Ownership of {s}: {v} from here on.", "{v} accepted {s} into its care."),
        was="The old chart has {v} as the owner of {s} from {when} on.",
        will="{v} will take over {s} on {day}.",
        asked=("Who owns {s}?", "Which team is responsible for {s}?", "Who takes care of {s}?",
               "Whom do I ask about {s}?"),
        asked_then=("Who owned {s} in {when}?", "Which team was responsible for {s} in {when}?"),
        asked_before=("Who owned {s} before?", "Which teams have owned {s} so far?"),
        mentions=("{v} filed a bug against {s}.", "{v} asked for a demo of {s}."),
    ),
    Phrases(
        attribute="language",
        values=LANGUAGES,
        said=("{s} is written in {v}.", "The code of {s} is {v}.", "{s} is a {v} program.",
              "To work on {s} you need {v}.", "{s} was done in {v}."),
        changed=("{s} was rewritten in {v}.", "{s} is {v} now, the {o} code is gone.", "The port of {s} to {v} is merged.",
                 "{s} replaced its {o} code by {v}.", "Since the rewrite {s} is all {v}."),
        was="In the archive {s} was written in {v} from {when} on.",
        will="The rewrite of {s} in {v} goes live on {day}.",
        asked=("What is {s} written in?", "Which language is the code of {s} in?", "What do I need to know to work on {s}?",
               "In which programming language is {s} done?"),
        asked_then=("What was {s} written in in {when}?", "Which language was the code of {s} in in {when}?"),
        asked_before=("What was {s} written in before?", "In which languages has {s} been written?"),
        mentions=("There is a client library for {s} in {v}.", "A {v} meetup featured {s}."),
    ),
    Phrases(
        attribute="deploy_day",
        values=DAYS,
        said=("{s} is deployed on {v}.", "Releases of {s} go out every {v}.", "{v} is release day for {s}.",
              "{s} ships each {v}.", "The weekly deploy of {s} is on {v}."),
        changed=("Releases of {s} moved to {v}.", "{s} ships on {v} instead of {o}.", "From this week {s} is deployed on {v}.",
                 "The release day of {s} is {v}, no longer {o}.", "{v} is the new deploy day of {s}."),
        was="Old calendars say that {s} shipped every {v} from {when} on.",
        will="From {day} on {s} will be deployed every {v}.",
        asked=("On which day is {s} deployed?", "When do releases of {s} go out?", "What is the release day of {s}?",
               "Which day of the week does {s} ship?"),
        asked_then=("On which day was {s} deployed in {when}?", "What was the release day of {s} in {when}?"),
        asked_before=("On which day was {s} deployed before?", "Which release days has {s} had?"),
        mentions=("The review of {s} was postponed to {v}.", "An outage of {s} on {v} lasted an hour."),
    ),
)  # fmt: skip

SEVERAL = (
    Phrases(
        attribute="speaks",
        values=SPOKEN,
        said=("{s} speaks {v}.", "{s} is fluent in {v}.", "{s} learned {v} as a child.", "{s} took a call in {v}.",
              "With {s} you can talk {v}."),
        changed=(), was="", will="",
        asked=("Which languages does {s} speak?", "In which languages can I talk with {s}?"),
        asked_then=(), asked_before=(),
        mentions=("{s} watched a film in {v} with subtitles.",),
    ),
    Phrases(
        attribute="alerts_to",
        values=CHANNELS,
        said=("{s} sends its alerts to {v}.", "Alerts of {s} arrive at {v}.", "{v} gets the alarms of {s}.",
              "An alert of {s} also goes to {v}.", "{s} raises alarms through {v}."),
        changed=(), was="", will="",
        asked=("Where do the alerts of {s} go?", "Through what does {s} raise alarms?"),
        asked_then=(), asked_before=(),
        mentions=("The team of {s} discussed {v} for an hour.",),
    ),
)  # fmt: skip

PROJECT_KEYS = {
    "database": ("tech_stack", DATABASES),
    "language": ("tech_stack", LANGUAGES),
    "test_framework": (
        "tech_stack",
        ("pytest", "unittest", "nose", "Jest", "Vitest", "Mocha", "JUnit", "RSpec"),
    ),
    "queue": ("tech_stack", ("RabbitMQ", "Kafka", "SQS", "NATS", "Redis streams", "ZeroMQ", "Pulsar")),
    "naming": ("convention", ("snake_case", "camelCase", "PascalCase", "kebab-case")),
    "branching": ("convention", ("trunk based", "git flow", "release branches", "forks")),
}
PROJECT_ASKED = {
    "database": ("Which database does the {s} component use?", "What does {s} store its data in?"),
    "language": ("Which language is the {s} component written in?", "What is {s} programmed in?"),
    "test_framework": ("What are the tests of {s} written with?", "Which test framework does {s} have?"),
    "queue": ("Which queue does {s} use?", "Through what does {s} pass its messages?"),
    "naming": ("How are things named in {s}?", "Which naming convention does {s} follow?"),
    "branching": ("Which branching convention does {s} follow?", "How does {s} deal with branches?"),
}
PROJECT_THEN = "Which {k} did the {s} component have in {when}?"
PROJECT_BEFORE = "Which {k} did the {s} component have before?"

OPENINGS = (
    "",
    "",
    "",
    "",
    "Noted: ",
    "From the stand-up: ",
    "By the way, ",
    "For the record: ",
    "Heard today: ",
)
"""What texts begin with; mostly nothing."""
DEPENDENTS = {
    "city": "The birthday parcel for {s} goes to {v}.",
    "employer": "The invoice for the training of {s} is made out to {v}.",
    "editor": "The onboarding page for {s} explains how to set up {v}.",
    "diet": "The order for the dinner with {s} says {v}.",
    "team": "The access rights of {s} are those of {v}.",
    "desk": "The new screen for {s} gets delivered to {v}.",
    "database": "The backup job of {s} calls the dump tool of {v}.",
    "port": "The firewall rule for {s} opens {v}.",
    "region": "The latency budget of {s} was worked out for {v}.",
    "owner": "The escalation sheet sends pages about {s} to {v}.",
    "language": "The hiring ad for {s} looks for {v} people.",
    "deploy_day": "The freeze calendar of {s} assumes releases on {v}.",
}
"""What rests on a fact, in the words that it had at the time."""
RESTING = ("The budget for this was approved on that ground: {d}", "The checklist copies it: {d}")
"""What rests on what rests on a fact."""
DEPENDENT_ASKED = {
    "city": "Where does the birthday parcel for {s} go?",
    "employer": "Who gets the invoice for the training of {s}?",
    "editor": "What does the onboarding page for {s} explain?",
    "diet": "What does the order for the dinner with {s} say?",
    "team": "Which access rights has {s}?",
    "desk": "Where does the new screen for {s} get delivered?",
    "database": "What does the backup job of {s} call?",
    "port": "What does the firewall rule for {s} open?",
    "region": "What was the latency budget of {s} worked out for?",
    "owner": "Where does the escalation sheet send pages about {s}?",
    "language": "Whom does the hiring ad for {s} look for?",
    "deploy_day": "What does the freeze calendar of {s} assume?",
}
