"""What the users of `assistant-chats` say and ask: two halves that share no subject, no template and no question.

A statement is filled with `{project}`, `{value}` and, where a table says so, `{other}`. Rules and constants are chosen
on `DEVELOPMENT` alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """Something that a user says once, or says anew: how it is said, asked for, and corrected."""

    says: tuple[str, ...]
    asks: tuple[str, ...]
    changes: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """One half: projects with their parts, what is said, and what is asked."""

    projects: tuple[tuple[str, str, tuple[str, ...]], ...]  # name, what it is, its parts
    attributes: tuple[Attribute, ...]
    instructions: tuple[tuple[str, tuple[str, ...]], ...]  # what is ordered, questions that it is for
    preferences: tuple[tuple[str, tuple[str, ...]], ...]
    contradictions: tuple[tuple[str, str, str], ...]  # said, said later, asked
    series: tuple[
        tuple[str, tuple[str, ...], tuple[str, ...]], ...
    ]  # how one is told, how all are asked, values
    begun: tuple[str, ...]  # a part is begun
    orders: tuple[str, ...]
    event_orders: tuple[str, ...]
    summaries: tuple[str, ...]
    events: tuple[tuple[str, str], ...]  # a dated event, its name in a question
    between: tuple[str, ...]
    advice: tuple[tuple[str, str, tuple[str, ...]], ...]  # asked by the user, asked later, what was advised
    advised: tuple[str, ...]
    near: tuple[str, ...]
    asked_for: tuple[str, ...]  # how a section of a text is asked for
    asides: tuple[str, ...]  # what else a user says when asking
    openings: tuple[str, ...]  # of replies
    closings: tuple[str, ...]
    pairs: tuple[str, ...]  # two questions in one


_DAYS: Final = (
    "14 March", "2 April", "28 February", "9 May", "17 June", "30 April", "6 March", "21 May", "11 April", "3 June",
    "25 March", "19 April",
)  # fmt: skip
_AMOUNTS: Final = (
    "4,200 euros", "950 euros", "18,000 euros", "2,750 euros", "600 euros", "11,300 euros", "7,400 euros",
    "1,150 euros", "3,900 euros", "24,500 euros", "5,600 euros", "820 euros",
)  # fmt: skip

DEVELOPMENT: Final = Words(
    projects=(
        (
            "Larkspur",
            "a budget planner for families",
            (
                "the login page",
                "the monthly overview",
                "the import of bank statements",
                "the savings goals",
                "the currency conversion",
                "the printed report",
                "the reminder mails",
                "the backup",
            ),
        ),
        (
            "Tidewater",
            "a service that predicts harbour traffic",
            (
                "the AIS feed",
                "the map of berths",
                "the arrival model",
                "the alarm for storms",
                "the nightly training",
                "the public dashboard",
                "the export for the pilots",
                "the audit log",
            ),
        ),
        (
            "Quillwork",
            "a tool that checks manuscripts",
            (
                "the spelling pass",
                "the list of characters",
                "the timeline view",
                "the style rules",
                "the plug-in for the editor",
                "the comparison of drafts",
                "the bibliography",
                "the word counter",
            ),
        ),
        (
            "Hollybank",
            "a booking system for a sports club",
            (
                "the court calendar",
                "the membership cards",
                "the waiting list",
                "the price table",
                "the coach roster",
                "the door code",
                "the tournament brackets",
                "the yearly invoice",
            ),
        ),
        (
            "Saffron",
            "a recipe collection with nutrition values",
            (
                "the ingredient parser",
                "the shopping list",
                "the calorie table",
                "the photo upload",
                "the seasonal filter",
                "the portion calculator",
                "the sharing links",
                "the voice mode",
            ),
        ),
        (
            "Northgate",
            "a pipeline for weather station data",
            (
                "the sensor reader",
                "the outlier filter",
                "the hourly averages",
                "the gap filling",
                "the archive format",
                "the station map",
                "the quality flags",
                "the yearbook tables",
            ),
        ),
        (
            "Marigold",
            "a learning app for irregular verbs",
            (
                "the card deck",
                "the spaced repetition",
                "the audio clips",
                "the streak counter",
                "the class view",
                "the hint system",
                "the placement test",
                "the offline mode",
            ),
        ),
        (
            "Ironbark",
            "a stock keeper for a bicycle workshop",
            (
                "the barcode scanner",
                "the order forms",
                "the repair tickets",
                "the supplier list",
                "the minimum stock alert",
                "the price labels",
                "the returns desk",
                "the year-end count",
            ),
        ),
        (
            "Bluefinch",
            "a feed reader for research papers",
            (
                "the title matcher",
                "the reading list",
                "the citation graph",
                "the weekly digest",
                "the tag suggestions",
                "the note margin",
                "the duplicate finder",
                "the author pages",
            ),
        ),
        (
            "Copperfield",
            "a scheduler for a small theatre",
            (
                "the rehearsal plan",
                "the costume inventory",
                "the lighting cues",
                "the ticket stub printer",
                "the understudy list",
                "the seating plan",
                "the prop room",
                "the season brochure",
            ),
        ),
    ),
    attributes=(
        Attribute(
            says=(
                "We have to hand in the first version of {project} by {value}.",
                "The first version of {project} is due on {value}.",
            ),
            asks=(
                "What is my deadline for the first version of {project}?",
                "Until when do I have to deliver {project} the first time?",
            ),
            changes=(
                "They moved the delivery of {project}'s first version to {value}.",
                "Good news, we now have until {value} for the first version of {project}.",
            ),
            values=_DAYS,
        ),
        Attribute(
            says=("I can spend {value} on {project} in total.", "My budget for {project} is {value}."),
            asks=("How much money do I have for {project}?", "What can I spend on {project} altogether?"),
            changes=(
                "I was granted more money, the budget for {project} is {value} now.",
                "After the meeting my budget for {project} changed to {value}.",
            ),
            values=_AMOUNTS,
        ),
        Attribute(
            says=(
                "{value} reviews everything I write for {project}.",
                "My code for {project} is reviewed by {value}.",
            ),
            asks=("Who looks over my code for {project}?", "Who is my reviewer on {project}?"),
            changes=(
                "From this week {value} has taken over the reviews of {project}.",
                "{value} reviews my {project} code now, the other reviewer changed teams.",
            ),
            values=(
                "Dana Whitlock",
                "Ifeanyi Osei",
                "Marta Kowalczyk",
                "Tomas Lindqvist",
                "Priya Raman",
                "Jonas Weber",
                "Lucia Ferri",
                "Noah Abebe",
                "Hana Sato",
                "Owen Pryce",
                "Selma Aydin",
                "Rui Teixeira",
            ),
        ),
        Attribute(
            says=("I host {project} on {value}.", "{project} runs on {value} at the moment."),
            asks=("Where is {project} hosted?", "Which machine does {project} run on?"),
            changes=(
                "I moved {project} over to {value} last night.",
                "{project} is now running on {value} instead.",
            ),
            values=(
                "a small Hetzner server",
                "my old laptop under the desk",
                "a Raspberry Pi in the cellar",
                "a virtual machine of the university",
                "a shared web host",
                "a rented box in Helsinki",
                "the club's office computer",
                "a free cloud instance",
                "my brother's server",
                "two containers at Scaleway",
                "a NAS in the hallway",
                "a refurbished ThinkCentre",
            ),
        ),
        Attribute(
            says=("I keep the data of {project} in {value}.", "For storage {project} uses {value}."),
            asks=("Which database did I choose for {project}?", "What do I store the data of {project} in?"),
            changes=(
                "I replaced the storage of {project}, it is {value} now.",
                "As of today {project} stores everything in {value}.",
            ),
            values=(
                "PostgreSQL 15",
                "a SQLite file",
                "MariaDB",
                "plain JSON files",
                "DuckDB",
                "Redis",
                "a CouchDB instance",
                "an HDF5 file",
                "MongoDB",
                "Parquet files",
                "LMDB",
                "a Firebird database",
            ),
        ),
        Attribute(
            says=("I usually work on {project} {value}.", "My hours for {project} are {value}."),
            asks=("When do I normally work on {project}?", "At which times do I sit down to do {project}?"),
            changes=(
                "My schedule changed, I work on {project} {value} from now on.",
                "Since the term began I do {project} {value}.",
            ),
            values=(
                "on Tuesday and Thursday evenings",
                "before breakfast from six to seven",
                "on Sunday afternoons",
                "during my train commute",
                "every second Saturday",
                "late at night after ten",
                "in the lunch break on Mondays",
                "on Friday mornings",
                "between two and four when the baby sleeps",
                "on Wednesday evenings after choir",
                "during the school holidays",
                "on the first weekend of the month",
            ),
        ),
        Attribute(
            says=("The tests of {project} take {value}.", "A full test run of {project} needs {value} here."),
            asks=(
                "How long does the test suite of {project} run?",
                "How much time do {project}'s tests need?",
            ),
            changes=(
                "I parallelised things and the tests of {project} are down to {value}.",
                "The tests of {project} have got to {value} meanwhile.",
            ),
            values=(
                "eleven minutes",
                "forty seconds",
                "almost half an hour",
                "six minutes",
                "ninety seconds",
                "two and a half minutes",
                "twenty minutes",
                "four minutes",
                "seventeen minutes",
                "eight minutes",
                "fifty-five seconds",
                "three quarters of an hour",
            ),
        ),
        Attribute(
            says=("About {value} use {project} right now.", "{project} has {value} at present."),
            asks=("How many people use {project}?", "What is the number of users of {project}?"),
            changes=(
                "We grew, {project} has {value} by now.",
                "I checked yesterday and {value} use {project} these days.",
            ),
            values=(
                "forty testers",
                "312 members",
                "nine colleagues",
                "1,450 readers",
                "three families",
                "seventy pupils",
                "26 volunteers",
                "510 subscribers",
                "a dozen mechanics",
                "88 hobby cooks",
                "205 students",
                "sixteen stage hands",
            ),
        ),
        Attribute(
            says=("{value} pays for {project}.", "The one who commissioned {project} is {value}."),
            asks=("Who is the customer behind {project}?", "Who commissioned {project} from me?"),
            changes=(
                "The contract for {project} went over to {value}.",
                "{value} has taken on the financing of {project}.",
            ),
            values=(
                "the parish of St. Brendan",
                "Aunt Rosalind",
                "Fjordline Cargo",
                "the Verdano cooperative",
                "Mrs. Haddad from the library",
                "a foundation in Basel",
                "the Kestrel school board",
                "my uncle's bakery",
                "the town of Elmsford",
                "Professor Nakagawa",
                "the hiking club",
                "Oakridge Insurance",
            ),
        ),
        Attribute(
            says=("I deploy {project} with {value}.", "Releases of {project} go out with {value}."),
            asks=("How do I roll out {project}?", "What do I use to deploy {project}?"),
            changes=(
                "I dropped the old deployment, {project} goes out with {value} now.",
                "Deployment of {project} is done by {value} since Monday.",
            ),
            values=(
                "a shell script",
                "Ansible",
                "GitHub Actions",
                "a Makefile over SSH",
                "Docker Compose",
                "Fabric",
                "Jenkins",
                "plain rsync",
                "a Nix flake",
                "Kamal",
                "a cron job that pulls",
                "Woodpecker",
            ),
        ),
        Attribute(
            says=("My co-author on {project} is {value}.", "I share the work on {project} with {value}."),
            asks=("Who do I build {project} with?", "Who is my partner on {project}?"),
            changes=(
                "My old partner left, so I do {project} together with {value} now.",
                "{value} joined me on {project} in place of my former partner.",
            ),
            values=(
                "Benedikt",
                "my cousin Alma",
                "Svetlana from accounting",
                "an intern called Yusuf",
                "my flatmate Greta",
                "Caspian",
                "a retired teacher, Mr. Lowell",
                "my sister Ines",
                "Odalys",
                "my neighbour Kwame",
                "Fiona McBride",
                "an exchange student named Jun",
            ),
        ),
        Attribute(
            says=("The logo of {project} shows {value}.", "For the logo of {project} I drew {value}."),
            asks=("What is on the logo of {project}?", "Which picture did I choose as {project}'s emblem?"),
            changes=(
                "The logo of {project} was redone, it is {value} now.",
                "I changed the emblem of {project} to {value}.",
            ),
            values=(
                "a paper boat",
                "two crossed keys",
                "a sleeping fox",
                "a green kettle",
                "an open umbrella",
                "a lighthouse",
                "a snail with a hat",
                "three pears",
                "a folded map",
                "a blue anvil",
                "a paper crane",
                "a copper bell",
            ),
        ),
        Attribute(
            says=("The longest outage of {project} was {value}.", "{project} was once down for {value}."),
            asks=("What was the worst downtime of {project}?", "How long was {project} ever offline?"),
            changes=(
                "We beat our sad record: {project} was offline for {value}.",
                "The outage last night was worse, {value} without {project}.",
            ),
            values=(
                "nine hours",
                "a whole weekend",
                "42 minutes",
                "three days",
                "five hours",
                "one night",
                "a quarter of an hour",
                "two days over Easter",
                "13 hours",
                "70 minutes",
                "four days",
                "seven hours",
            ),
        ),
        Attribute(
            says=(
                "On {value} I present {project} to the board.",
                "I have to show {project} to the board on {value}.",
            ),
            asks=("When do I present {project}?", "On what day is my demo of {project} for the board?"),
            changes=(
                "The board meeting was shifted, I show {project} on {value}.",
                "My presentation of {project} was postponed to {value}.",
            ),
            values=_DAYS,
        ),
    ),
    instructions=(
        (
            "Always use type hints when you show me a Python function.",
            (
                "Could you write me a helper that reads the settings of {project}?",
                "How would a routine look that sorts the entries of {project} by date?",
            ),
        ),
        (
            "When I ask about costs, always give the sums in Swiss francs too.",
            (
                "What would it come to per year to keep {project} online?",
                "Is a second server for {project} expensive?",
            ),
        ),
        (
            "Always warn me about privacy when personal records are involved.",
            (
                "I want to store the birthdays of {project}'s users, how do I do that?",
                "How can I export the addresses of everybody in {project}?",
            ),
        ),
        (
            "Whenever I ask for a plan, answer with a numbered list of at most five steps.",
            (
                "How should I go about the next month of {project}?",
                "What do I do first to get {project} finished?",
            ),
        ),
        (
            "Never suggest paid services when I look for a tool.",
            (
                "What could I use to monitor {project}?",
                "Which program would help me to draw diagrams for {project}?",
            ),
        ),
        (
            "Please always mention the Windows command when you tell me something for the shell.",
            (
                "How do I delete the old logs of {project} from the terminal?",
                "What do I type to see which port {project} listens on?",
            ),
        ),
        (
            "Always add a short test when you change code for me.",
            (
                "Can you fix the off-by-one mistake in {project}'s pager?",
                "Please rewrite the loop in {project} that adds up the totals.",
            ),
        ),
        (
            "If I mention a deadline, always tell me how many working days are left.",
            (
                "Will I make it with {project} before the end of the quarter?",
                "Is there enough time to add another feature to {project}?",
            ),
        ),
    ),
    preferences=(
        (
            "I prefer dark backgrounds over light ones in anything that is shown on a screen.",
            (
                "Which colours should the start page of {project} have?",
                "Can you propose a theme for {project}?",
            ),
        ),
        (
            "I like small libraries without dependencies much better than big frameworks.",
            (
                "What should I base the web part of {project} on?",
                "Which package would you take for {project}'s forms?",
            ),
        ),
        (
            "I would rather read a short example than a long explanation.",
            (
                "How do generators work, for my use in {project}?",
                "Can you teach me decorators for {project}?",
            ),
        ),
        (
            "I don't like meetings, I prefer to settle things in writing.",
            (
                "How should I agree on the next steps of {project} with the others?",
                "What is a good way to collect opinions on {project}?",
            ),
        ),
        (
            "I enjoy learning from videos least of all, books suit me more.",
            (
                "What would help me to get better at statistics for {project}?",
                "Where can I learn more about design for {project}?",
            ),
        ),
        (
            "I prefer the train to flying whenever I travel for work.",
            (
                "How do I best get to the conference where I show {project}?",
                "What is a good route to visit {project}'s partners in Vienna?",
            ),
        ),
        (
            "I like bar charts, pie charts confuse me.",
            (
                "How should {project} show the shares of each group?",
                "What is the best picture for the totals of {project}?",
            ),
        ),
    ),
    contradictions=(
        (
            "I have never worked with Docker before.",
            "The Docker setup that I wrote for my last job had the same volume problem.",
            "Have I worked with Docker before?",
        ),
        (
            "I don't have any experience with unit tests yet.",
            "I wrote hundreds of unit tests in my years at the bank.",
            "Do I have experience with unit tests?",
        ),
        (
            "Nobody but me has access to the repository of {project}.",
            "I gave two colleagues access to the repository of {project} back in January.",
            "Does anybody else have access to {project}'s repository?",
        ),
        (
            "I never took a statistics course.",
            "In the statistics course that I attended in college we did this by hand.",
            "Did I ever attend a statistics course?",
        ),
        (
            "{project} has no mobile version at all.",
            "The mobile version of {project} has been in the store for a while.",
            "Is there a mobile version of {project}?",
        ),
        (
            "I have not talked to any user of {project} so far.",
            "When I interviewed users of {project} last autumn, they wanted fewer buttons.",
            "Have I spoken with users of {project}?",
        ),
    ),
    series=(
        (
            "I tried {value} for {project} today, it did not convince me.",
            (
                "How many libraries have I tried for {project}, and which?",
                "List all the libraries that I tested for {project}.",
            ),
            ("Flask", "Bottle", "Tornado", "Pyramid", "Falcon", "CherryPy", "Sanic", "Quart"),
        ),
        (
            "A bug in {project} that I finally fixed: {value}.",
            (
                "How many bugs of {project} did I tell you about that I fixed?",
                "Which mistakes in {project} have I repaired so far?",
            ),
            (
                "the time zone was ignored",
                "empty lines crashed the parser",
                "umlauts became question marks",
                "the cache was never emptied",
                "totals were rounded twice",
                "the second page was blank",
                "passwords were cut at 20 characters",
                "the sort order was reversed",
            ),
        ),
        (
            "{value} gave me feedback on {project} this week.",
            (
                "How many different people have given me feedback on {project}?",
                "Who are all the people that commented on {project}?",
            ),
            (
                "My mentor Agnes",
                "Old Mr. Petrov",
                "The designer Lila",
                "Our sysadmin Gunnar",
                "My nephew Theo",
                "The lawyer Ms. Quist",
                "Wen from support",
                "A stranger called Brannigan",
            ),
        ),
        (
            "I paid {value} for {project} this time.",
            (
                "How much have I paid for {project} altogether?",
                "What are all the expenses for {project} that I mentioned?",
            ),
            (
                "48 euros for a domain",
                "120 euros for icons",
                "75 euros for a book",
                "310 euros for a usability test",
                "19 euros for a certificate",
                "64 euros for fonts",
                "230 euros for a lawyer's hour",
                "12 euros for stickers",
            ),
        ),
        (
            "I presented {project} at {value} last week.",
            ("At how many places have I presented {project}?", "Name every event where I showed {project}."),
            (
                "the Lisbon meetup",
                "the maker fair",
                "a lunch talk at the museum",
                "the alumni evening",
                "the regional hackathon",
                "a school class in Graz",
                "the women-in-tech night",
                "the open door day",
            ),
        ),
    ),
    begun=(
        "Today I started with {value} of {project}.",
        "I'm turning to {value} of {project} now.",
        "Next up in {project} is {value}, I began this morning.",
        "I spent the day on {value}, the newest piece of {project}.",
        "{project} gets {value} now, that is what I am working on.",
    ),
    orders=(
        "In what order did I work on the parts of {project}?",
        "Can you list the sequence in which I brought up the pieces of {project}?",
    ),
    event_orders=(
        "What came first for {project}, and what later: {value}?",
        "Sort these by when they happened: {value}.",
    ),
    summaries=(
        "Can you summarise how {project} has developed so far?",
        "Give me an overview of everything I have built for {project}.",
    ),
    events=(
        ("On {value} we had the kick-off of {project}.", "the kick-off of {project}"),
        ("I released the beta of {project} on {value}.", "the beta of {project}"),
        ("The security check of {project} took place on {value}.", "the security check of {project}"),
        ("On {value} the first stranger signed up for {project}.", "the first sign-up for {project}"),
        ("I moved into the shared office for {project} on {value}.", "my move into the office for {project}"),
    ),
    between=(
        "How many days were there between {value} and {other}?",
        "How much time passed from {value} to {other}?",
    ),
    advice=(
        (
            "What should I use to cache the answers of {project}?",
            "What did you recommend for caching in {project}?",
            ("diskcache", "an LRU dictionary", "memcached", "a table with expiry dates"),
        ),
        (
            "How could I name the releases of {project}?",
            "Which naming scheme for releases of {project} did you propose?",
            ("names of rivers", "calendar versions", "moons of Saturn", "the week number"),
        ),
        (
            "How often should I back up {project}?",
            "What did you say about how often {project} needs a backup?",
            ("every six hours", "twice a week", "after each release", "nightly at three"),
        ),
        (
            "Which font fits {project}?",
            "What typeface did you suggest to me for {project}?",
            ("Source Serif", "Atkinson Hyperlegible", "IBM Plex Mono", "Fira Sans"),
        ),
    ),
    advised=(
        "For {topic} I would go with {value}: it is the option that you will regret least.",
        "My recommendation in your case is {value}, simple and good enough.",
        "If I had to choose, I would take {value} here.",
    ),
    near=(
        "My brother's thesis is due in two weeks and he is nervous.",
        "A friend of mine runs her shop on an old Mac mini.",
        "My manager spent his whole budget on chairs.",
        "At my last job the tests took two hours.",
        "The neighbour's app has only five users, he says.",
        "My cousin reviews films for a newspaper.",
        "My flatmate never makes backups.",
        "Yesterday the internet was down in the whole street.",
        "I slept badly, so be patient with me.",
        "The coffee machine broke again this morning.",
    ),
    asked_for=(
        "Can you explain how {title} works?",
        "I need some help with {title}.",
        "What do I have to know about {title}?",
        "Could you walk me through {title}?",
        "I'm stuck with {title}, what am I missing?",
        "Show me how to use {title} properly.",
    ),
    asides=(
        "I tried it for an hour yesterday and got nowhere.",
        "It came up while I was cleaning up {project}.",
        "My first attempt printed nothing at all, not even a message.",
        "I read the documentation twice and still can't tell when it applies.",
        "It would make {project} a lot simpler if I understood it.",
        "Somebody on a forum said that it is slow for large inputs, is that true?",
        "Please keep in mind that I only know the basics.",
        "I'm on Python 3.11 under Linux, if that matters.",
        "I copied a snippet from the web into {project} and now I'm afraid of it.",
        "Afterwards I'd like to go back to what we discussed the other day.",
        "I want to do it properly this time instead of piling up hacks.",
        "The error appears only when {project} has been running for a while.",
    ),
    openings=(
        "Sure! Here is what matters about {title}.",
        "Great question. Let's look at {title} step by step.",
        "Happy to help with {topic}. First some background on {title}.",
        "That makes sense for {topic}. Here is an overview.",
        "Of course. For {topic} the following is worth knowing.",
    ),
    closings=(
        "Let me know if you would like an example for your own code.",
        "Would you like me to go deeper into one of these points?",
        "Does that help? I can show you a variant for larger inputs.",
        "Tell me how it goes, and we can refine it together.",
    ),
    pairs=("{value} And {other}", "Two things: {value} {other}"),
)

_DATES: Final = (
    "the 8th of October", "November 12th", "the 23rd of August", "September 5th", "the 1st of December", "July 19th",
    "the 27th of September", "October 30th", "the 15th of November", "August 4th", "the 10th of July", "December 9th",
)  # fmt: skip
_SUMS: Final = (
    "$3,100", "$740", "$15,600", "$2,080", "$480", "$9,900", "$6,250", "$1,320", "$4,470", "$21,000", "$5,050", "$690",
)  # fmt: skip

UNSEEN: Final = Words(
    projects=(
        (
            "Wrenfield",
            "my dissertation on urban heat",
            (
                "chapter one",
                "the interviews",
                "the land-use model",
                "the regression tables",
                "the literature survey",
                "the ethics form",
                "the figures",
                "the conclusion",
            ),
        ),
        (
            "Palisade",
            "a board game about canal builders",
            (
                "the rule booklet",
                "the tile art",
                "the scoring track",
                "the solo variant",
                "the play-test sheets",
                "the box insert",
                "the crowdfunding page",
                "the expansion cards",
            ),
        ),
        (
            "Orchid-7",
            "a firmware for greenhouse controllers",
            (
                "the bootloader",
                "the humidity loop",
                "the serial protocol",
                "the watchdog",
                "the power saving",
                "the update mechanism",
                "the fault codes",
                "the wiring diagram",
            ),
        ),
        (
            "Mosswick",
            "an archive of oral histories",
            (
                "the transcription",
                "the consent letters",
                "the index of places",
                "the sound restoration",
                "the finding aid",
                "the exhibition panels",
                "the subtitles",
                "the donor database",
            ),
        ),
        (
            "Driftglass",
            "a renderer for sea surfaces",
            (
                "the wave spectrum",
                "the foam shader",
                "the camera rig",
                "the light probe",
                "the tiling",
                "the denoiser",
                "the scene format",
                "the benchmark scenes",
            ),
        ),
        (
            "Tamarack",
            "a family tree program",
            (
                "the GEDCOM reader",
                "the photo albums",
                "the place names",
                "the kinship labels",
                "the merge dialog",
                "the chart printer",
                "the living-person filter",
                "the source citations",
            ),
        ),
        (
            "Coldbrook",
            "a simulator of hospital beds",
            (
                "the arrival process",
                "the ward model",
                "the nurse shifts",
                "the discharge rules",
                "the scenario files",
                "the animation",
                "the sensitivity runs",
                "the final brief",
            ),
        ),
        (
            "Vesper",
            "a telescope control panel",
            (
                "the mount driver",
                "the focus routine",
                "the star catalogue",
                "the dome sync",
                "the weather lock",
                "the exposure queue",
                "the image stacker",
                "the night report",
            ),
        ),
        (
            "Pinecrest",
            "a timetable maker for schools",
            (
                "the constraint list",
                "the room pool",
                "the teacher wishes",
                "the solver",
                "the swap assistant",
                "the printouts",
                "the substitute board",
                "the parents' portal",
            ),
        ),
        (
            "Ambergate",
            "a price tracker for second-hand synthesizers",
            (
                "the scraper",
                "the model names",
                "the condition grades",
                "the trend lines",
                "the alert rules",
                "the seller ratings",
                "the currency table",
                "the wish list",
            ),
        ),
    ),
    attributes=(
        Attribute(
            says=(
                "The committee expects the draft of {project} on {value}.",
                "{value} is when I submit the draft of {project}.",
            ),
            asks=(
                "What's the submission date for my {project} draft?",
                "When does my draft of {project} need to reach the committee?",
            ),
            changes=(
                "I got an extension, the {project} draft goes in on {value}.",
                "Turns out the committee wants my draft of {project} on {value}.",
            ),
            values=_DATES,
        ),
        Attribute(
            says=(
                "I've set aside {value} for {project}.",
                "All in all there is {value} in the pot for {project}.",
            ),
            asks=("What funds do I have available for {project}?", "How big is the pot for {project}?"),
            changes=(
                "A sponsor stepped in, so the pot for {project} stands at {value}.",
                "We had cuts and {project} is left with {value}.",
            ),
            values=_SUMS,
        ),
        Attribute(
            says=("My adviser for {project} is {value}.", "{value} advises me on {project}."),
            asks=("Who advises me on {project}?", "What's the name of my adviser for {project}?"),
            changes=(
                "I switched advisers, it's {value} for {project} as of this month.",
                "{value} took me on as adviser for {project} after the retirement.",
            ),
            values=(
                "Dr. Halloran",
                "Emeka Nwosu",
                "Professor Bianchi",
                "Katya Morozova",
                "Dr. Singh",
                "Aurelio Pinto",
                "Birgit Holm",
                "Mr. Fennimore",
                "Dr. Zhao",
                "Leila Haddadi",
                "Professor Okafor",
                "Ms. Tremblay",
            ),
        ),
        Attribute(
            says=("I write {project} in {value}.", "The language behind {project} is {value}."),
            asks=("Which language am I writing {project} in?", "What is {project} programmed in?"),
            changes=(
                "After a rewrite {project} is in {value}.",
                "I ported everything, {project} is a {value} project these days.",
            ),
            values=(
                "Rust",
                "Go",
                "Kotlin",
                "OCaml",
                "C++",
                "TypeScript",
                "Julia",
                "Elixir",
                "Swift",
                "Zig",
                "Haskell",
                "Lua",
            ),
        ),
        Attribute(
            says=("Files for {project} live {value}.", "I store all files of {project} {value}."),
            asks=("Where are my {project} files?", "Where did I put the files belonging to {project}?"),
            changes=(
                "I cleaned up: files for {project} now live {value}.",
                "Since the disk died, I store the files of {project} {value}.",
            ),
            values=(
                "on a USB drive in the desk",
                "in a shared Dropbox",
                "on the lab's NFS share",
                "in a private Git repository",
                "on two DVDs",
                "in a Nextcloud at work",
                "in an S3 bucket",
                "on an old iPod",
                "in my mailbox as drafts",
                "on the department's Samba server",
                "in a folder called zzz",
                "on a microSD card",
            ),
        ),
        Attribute(
            says=("I've reserved {value} for {project} each week.", "{project} gets {value} of my week."),
            asks=(
                "What part of my week belongs to {project}?",
                "How much weekly time did I reserve for {project}?",
            ),
            changes=(
                "I rearranged my calendar, {project} gets {value} weekly.",
                "With the new job only {value} a week remain for {project}.",
            ),
            values=(
                "ten hours",
                "a full day",
                "two mornings",
                "three evenings",
                "ninety minutes",
                "fifteen hours",
                "half a Saturday",
                "four lunch breaks",
                "twenty hours",
                "one long night",
                "six hours",
                "an hour per weekday",
            ),
        ),
        Attribute(
            says=(
                "Building {project} from scratch lasts {value}.",
                "One complete build of {project} is {value} of waiting.",
            ),
            asks=(
                "How long do I wait for a complete build of {project}?",
                "What's the build time of {project}?",
            ),
            changes=(
                "With the new machine a build of {project} lasts {value}.",
                "Somehow building {project} has become {value} of waiting.",
            ),
            values=(
                "25 minutes",
                "three minutes",
                "an hour and ten",
                "45 seconds",
                "nine minutes",
                "two hours",
                "13 minutes",
                "half a minute",
                "35 minutes",
                "five and a half minutes",
                "a minute",
                "fifty minutes",
            ),
        ),
        Attribute(
            says=("{value} signed up for {project} so far.", "So far {project} attracted {value}."),
            asks=("How many signed up for {project}?", "What audience did {project} attract?"),
            changes=(
                "Numbers jumped: {value} signed up for {project}.",
                "After the article {project} counts {value}.",
            ),
            values=(
                "64 backers",
                "two schools",
                "1,900 followers",
                "eleven clinics",
                "37 collectors",
                "five observatories",
                "830 downloads",
                "a hundred pensioners",
                "fourteen growers",
                "240 players",
                "22 researchers",
                "seven museums",
            ),
        ),
        Attribute(
            says=(
                "My supplier for the parts of {project} is {value}.",
                "I order what {project} needs from {value}.",
            ),
            asks=("Where do I order parts for {project}?", "Which supplier does {project} have?"),
            changes=(
                "The old supplier closed, {value} delivers for {project} now.",
                "I'm ordering from {value} for {project} these days.",
            ),
            values=(
                "Kestler & Sons",
                "the Brightwater depot",
                "Nakamura Trading",
                "a shop in Porto",
                "Volkov Components",
                "the Greenlane market",
                "Pemberton Print",
                "a guy named Dougal",
                "Stellar Surplus",
                "the co-op on Mill Road",
                "Larousse Imports",
                "Thistle Electronics",
            ),
        ),
        Attribute(
            says=(
                "The licence that I picked for {project} is {value}.",
                "{project} is released under {value}.",
            ),
            asks=("Under what licence did I put {project}?", "Which licence applies to {project}?"),
            changes=(
                "I relicensed {project}, {value} applies from version 2.",
                "The lawyers preferred {value} for {project}, so that's what it is.",
            ),
            values=(
                "MIT",
                "Apache 2.0",
                "the GPL version 3",
                "CC BY",
                "the Mozilla licence",
                "a proprietary contract",
                "BSD with three clauses",
                "the Unlicense",
                "the AGPL",
                "ISC",
                "the European Union licence",
                "CC0",
            ),
        ),
        Attribute(
            says=("{value} illustrates {project} for me.", "I hired {value} for the drawings of {project}."),
            asks=("Who does the drawings for {project}?", "Which illustrator did I hire for {project}?"),
            changes=(
                "The drawings of {project} are made by {value} instead.",
                "I had to find another illustrator, {value} does {project}.",
            ),
            values=(
                "Mireille",
                "Hugo Brandt",
                "an art student, Petra",
                "Old Silas",
                "Ngozi",
                "my aunt Carla",
                "the Ferrante sisters",
                "Bashir",
                "Astrid Moen",
                "Tobias from upstairs",
                "Lin Mei",
                "Rosario",
            ),
        ),
        Attribute(
            says=("{project}'s mascot is {value}.", "I gave {project} {value} as a mascot."),
            asks=("What mascot does {project} have?", "Which animal or thing stands for {project}?"),
            changes=(
                "I retired the mascot, {value} represents {project} now.",
                "The children voted and {project}'s mascot became {value}.",
            ),
            values=(
                "a moth",
                "a grumpy heron",
                "a tin robot",
                "an otter",
                "a floating candle",
                "a hedgehog",
                "a comet with eyes",
                "a teapot",
                "a red panda",
                "a sleepy owl",
                "a cactus",
                "a walrus",
            ),
        ),
        Attribute(
            says=(
                "My biggest loss on {project} was {value} of work.",
                "I once lost {value} of work on {project}.",
            ),
            asks=(
                "How much work did I lose on {project} at worst?",
                "What's the most work that {project} cost me through a loss?",
            ),
            changes=(
                "It happened again and worse, {value} of work on {project} vanished.",
                "A crash ate {value} of work on {project}, a sad best mark.",
            ),
            values=(
                "two weeks",
                "an afternoon",
                "three chapters",
                "a month",
                "five days",
                "twelve hours",
                "a whole summer",
                "one evening",
                "ten days",
                "six hours",
                "a quarter",
                "a weekend",
            ),
        ),
        Attribute(
            says=(
                "The public premiere of {project} is planned for {value}.",
                "I'll unveil {project} on {value}.",
            ),
            asks=("When will I unveil {project}?", "What date is {project}'s premiere?"),
            changes=(
                "We pushed the premiere of {project} to {value}.",
                "The hall was taken, I unveil {project} on {value}.",
            ),
            values=_DATES,
        ),
    ),
    instructions=(
        (
            "From now on end every recipe of commands with how to undo it.",
            (
                "How can I rename all images of {project} at once?",
                "Which steps reset the settings of {project}?",
            ),
        ),
        (
            "Any time we discuss hardware, name the power draw in watts.",
            (
                "Would a faster computer make sense for {project}?",
                "Which display could I attach for {project}?",
            ),
        ),
        (
            "You must cite a source whenever you state a historical fact.",
            (
                "Where did the idea behind {project} come from originally?",
                "Who invented the method that {project} rests on?",
            ),
        ),
        (
            "Whenever you draft a letter for me, keep it below a hundred words.",
            (
                "Please write to the sponsors of {project}.",
                "I need an e-mail that invites people to {project}.",
            ),
        ),
        (
            "Each time you list options, mark your favourite with a star.",
            (
                "What alternatives are there for the name of {project}?",
                "Which ways could I go with the layout of {project}?",
            ),
        ),
        (
            "If we talk about dates, always write the day of the week as well.",
            (
                "By when should I book the room for {project}?",
                "Draw up a calendar for {project}'s last weeks.",
            ),
        ),
        (
            "Don't ever use abbreviations when you explain statistics to me.",
            (
                "What does the confidence interval in {project} tell me?",
                "How do I compare two means in {project}?",
            ),
        ),
        (
            "Make sure to mention accessibility whenever we discuss the look of something.",
            ("Is the contrast of {project}'s cover okay?", "How might the buttons in {project} be arranged?"),
        ),
    ),
    preferences=(
        (
            "I'm a morning person, so I would rather have hard tasks early.",
            (
                "How should I divide a working day on {project}?",
                "When is the best time for the difficult bits of {project}?",
            ),
        ),
        (
            "Given the choice I go for open formats over proprietary ones.",
            (
                "In which form should I hand out {project}'s data?",
                "What do I save the documents of {project} as?",
            ),
        ),
        (
            "My taste is minimal: few colours, much white space.",
            ("Any ideas for the cover of {project}?", "What style suits a poster of {project}?"),
        ),
        (
            "I love walking while I think, sitting in front of a screen tires me.",
            ("How can I brainstorm about {project}?", "I feel blocked with {project}, what helps?"),
        ),
        (
            "Working alone suits me more than working in a group.",
            ("Should I found a team around {project}?", "How do I organise the last phase of {project}?"),
        ),
        (
            "Paper notes work better for me than any app.",
            ("How can I keep track of ideas for {project}?", "What do I use to plan {project}?"),
        ),
        (
            "I favour British spelling and dislike exclamation marks.",
            ("Write a short blurb for {project}.", "Could you polish the introduction of {project}?"),
        ),
    ),
    contradictions=(
        (
            "I can't read sheet music at all.",
            "I played the violin from sheet music for ten years.",
            "Can I read sheet music?",
        ),
        (
            "I've not been abroad for {project} yet.",
            "On my trip to Norway for {project} I met two experts.",
            "Did I travel abroad for {project}?",
        ),
        (
            "There is no written contract for {project}.",
            "My contract for {project} says that I keep all rights.",
            "Is there a contract for {project}?",
        ),
        (
            "I've never spoken in front of an audience.",
            "My talk before three hundred people went fine back then.",
            "Have I ever given a talk to an audience?",
        ),
        (
            "{project} doesn't have any tests.",
            "The tests that guard {project} caught two regressions in spring.",
            "Does {project} have tests?",
        ),
        (
            "I have yet to learn how to solder.",
            "I soldered the boards of my radio kit as a teenager.",
            "Do I know how to solder?",
        ),
    ),
    series=(
        (
            "I read {value} as background for {project}.",
            ("What have I read in preparation for {project}?", "How many works did I read for {project}?"),
            (
                "a biography of Telford",
                "two papers by Ostrom",
                "the Lindgren report",
                "a manual from 1952",
                "the Bremen lecture notes",
                "a novel by Sebald",
                "the standard by ISO",
                "an atlas of winds",
            ),
        ),
        (
            "{value} wrote about {project}, which was a surprise.",
            (
                "Which outlets covered {project}?",
                "How often was {project} mentioned in the press, and where?",
            ),
            (
                "The local gazette",
                "A Dutch blog",
                "A radio host",
                "The alumni letter",
                "A magazine for makers",
                "The union paper",
                "A podcast from Perth",
                "The chamber's newsletter",
            ),
        ),
        (
            "We lost {value} on the way with {project}.",
            (
                "What setbacks and losses has {project} had?",
                "Name everything that went missing during {project}.",
            ),
            (
                "a hard disk",
                "our meeting room",
                "the second sponsor",
                "a box of samples",
                "the domain name",
                "the only projector",
                "a week to the flu",
                "the original sketches",
            ),
        ),
        (
            "I borrowed {value} for {project}.",
            ("Which things have I borrowed for {project}?", "What do I have to give back after {project}?"),
            (
                "a tripod",
                "an oscilloscope",
                "a van",
                "two microphones",
                "a sewing machine",
                "a 3D printer",
                "a label maker",
                "a generator",
            ),
        ),
        (
            "I skipped {value} because of {project}.",
            ("What did I miss out on because of {project}?", "List all occasions I skipped for {project}."),
            (
                "a wedding",
                "the jazz festival",
                "my dentist",
                "a ski weekend",
                "the class reunion",
                "Dad's birthday",
                "the election party",
                "a marathon",
            ),
        ),
    ),
    begun=(
        "{value} of {project} is on my bench this week.",
        "I opened the work on {value} for {project}.",
        "On to {value} then, {project} is waiting.",
        "We've arrived at {value} in {project}.",
        "For {project} I'm tackling {value} at last.",
    ),
    orders=(
        "Which parts of {project} came first, second and so on as I told you?",
        "Put the stages of {project} that I went through into chronological order.",
    ),
    event_orders=(
        "Arrange the following chronologically: {value}.",
        "Which happened earlier and which later, {value}?",
    ),
    summaries=(
        "What is the whole story of {project} up to today?",
        "Recap my progress on {project} from the beginning.",
    ),
    events=(
        ("{value} was the day I registered {project}.", "registering {project}"),
        ("The pilot of {project} ended on {value}.", "the end of {project}'s pilot"),
        ("I signed the lease for {project} on {value}.", "signing the lease for {project}"),
        ("Our first public showing of {project} happened on {value}.", "the first showing of {project}"),
        ("{project} got its prize on {value}.", "the prize for {project}"),
    ),
    between=(
        "How long was it between {value} and {other}?",
        "Count the days separating {value} and {other}.",
    ),
    advice=(
        (
            "How do I archive the old versions of {project}?",
            "How should the old versions of {project} be archived, in your opinion back then?",
            ("a tarball per year", "write-once tapes", "a bare repository", "yearly PDF prints"),
        ),
        (
            "Which paper should the booklet of {project} be printed on?",
            "What paper did you advise for {project}'s booklet?",
            ("recycled 120 gram stock", "uncoated cream", "a matte laminate", "thin bible paper"),
        ),
        (
            "How many helpers does {project} need at the launch?",
            "What number of helpers did you estimate for launching {project}?",
            ("four people", "one per entrance", "at least nine", "a pair in shifts"),
        ),
        (
            "Where can I find volunteers for {project}?",
            "Where was I supposed to look for volunteers for {project}, according to you?",
            ("the allotment society", "retired engineers", "the student radio", "a sailing club"),
        ),
    ),
    advised=(
        "I'd settle on {value} when it comes to {topic}; everything else is more trouble.",
        "What I'd do in your place: {value}.",
        "My vote goes to {value}, hands down.",
    ),
    near=(
        "My landlord's roof leaks again.",
        "A colleague handed in her draft yesterday and slept for a day.",
        "My uncle collects old radios from suppliers all over.",
        "The dog ate a pencil this morning.",
        "My wife's build at work is broken since Monday.",
        "Somebody in my street writes in Fortran for fun.",
        "I had too much tea today.",
        "My old boss never wanted a mascot for anything.",
        "It has been raining for nine days.",
        "Our club's pot is empty as always.",
    ),
    asked_for=(
        "Tell me about {title}.",
        "How does one deal with {title}?",
        "I don't get {title}, any pointers?",
        "Give me the essentials of {title}.",
        "What's the deal with {title}?",
        "I'd like an introduction to {title}.",
    ),
    asides=(
        "An acquaintance swears by it but couldn't say why.",
        "For {project} I may need it before long.",
        "All I found so far were contradictory answers.",
        "Nothing urgent, I'm only curious.",
        "My notes on that are a mess.",
        "If there are pitfalls, better tell me before I fall into them.",
        "In {project} something similar broke once and nobody noticed for days.",
        "I'd be glad about a comparison with the usual way.",
        "Treat me like a beginner here.",
        "It has to run on an elderly computer, too.",
        "I suspect that half of {project} could be thrown away with it.",
        "We touched on it briefly at some point, I believe.",
    ),
    openings=(
        "Absolutely, {title} is easier than it looks.",
        "Here is what you need regarding {title}.",
        "Good to hear about {topic}. A few notes first.",
        "Let me put {topic} into context.",
        "No problem at all. Regarding {topic}, start here.",
    ),
    closings=(
        "Shall I draft something along these lines?",
        "Feel free to paste your own version and I'll have a look.",
        "If anything is unclear, just ask.",
        "I can condense this into a checklist as well.",
    ),
    pairs=("{value} Also: {other}", "First, {value} Second, {other}"),
)

WORDS: Final = {"development": DEVELOPMENT, "unseen": UNSEEN}
