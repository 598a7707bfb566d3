"""Which texts take the place of which, and which are only similar."""

from __future__ import annotations

import pytest

from hexad.memory.tables.updates import SURE
from hexad.text.claims.compare import UpdateReason, update_of

UPDATES = (
    ("Dana leads the platform team.", "Chris took over the platform team from Dana."),
    ("Our database is MySQL.", "We moved from MySQL to Postgres."),
    ("My sister lives in Lisbon.", "My sister lives in Porto now."),
    ("The rate limit is 100.", "rate limit is 250"),
    ("DB: MySQL", "DB: Postgres (was MySQL)"),
    ("We use Jenkins for CI.", "We switched CI from Jenkins to GitHub Actions."),
    ("We use Jenkins for CI.", "CI runs on GitHub Actions now."),
    ("The API times out after 30 seconds.", "The API times out after 60 seconds."),
    ("Ann works at Google.", "Ann left Google and joined Stripe."),
    ("Ann works at Google.", "Ann works at Stripe now."),
    ("I work at Google.", "I just started working at Stripe."),
    ("I live in Oslo.", "I moved to Rome last month."),
    ("I'm a vegetarian.", "I'm not a vegetarian anymore."),
    ("We deploy on Fridays.", "We no longer deploy on Fridays."),
    ("We deploy on Fridays.", "Deploys happen on Tuesdays instead of Fridays."),
    ("The standup is at 9:30.", "Standup moved to 10:00."),
    ("The weekly sync is on Monday at 10.", "The weekly sync is on Thursday at 14 from now on."),
    ("Python version: 3.11", "Bumped Python to 3.12."),
    ("We run Node 18.", "Upgraded to Node 20."),
    ("The project runs on Python 3.11.", "The project runs on Python 3.12 now."),
    ("Our CEO is Maria Lopez.", "John Smith is our CEO now."),
    ("user: my favourite editor is Vim", "user: my favourite editor is Helix these days"),
    ("My favourite colour is blue.", "Actually, my favourite color is green."),
    ("The staging server listens on port 8080.", "Staging server port changed to 9090."),
    ("port: 8080", "port 8080 → 9090"),
    ("The meeting room is B12.", "Correction: the meeting room is B14, not B12."),
    ("The logo is blue.", "The logo is red now."),
    ("Backups run every 6 hours.", "Backups run every 12 hours."),
    ("The max upload size is 10 MB.", "Max upload size is now 50 MB."),
    ("Our docs live in Confluence.", "We moved the docs to Notion."),
    ("Our docs live in Confluence.", "Docs were migrated from Confluence to Notion."),
    ("The frontend uses React.", "The frontend uses Svelte now."),
    ("The frontend uses React.", "We rewrote the frontend in Svelte, React is gone."),
    ("Tom drives a Volvo.", "Tom sold the Volvo and drives a Tesla now."),
    ("The release is planned for March 3.", "The release was postponed to March 17."),
    ("Emma is allergic to nuts.", "Emma is no longer allergic to nuts."),
    ("Invoices go to billing@acme.com.", "Invoices go to finance@acme.com now."),
    ("The team uses Slack for chat.", "Instead of Slack the team uses Teams for chat."),
    ("Ann lives in Oslo.", "Not Oslo any more: Ann lives in Rome."),
    ("Ann Lind lives in Oslo.", "For the record: Not Oslo any more: Ann Lind lives in Rome."),
    ("The deadline is June 5.", "New deadline: June 12."),
    ("Q: what's our cloud? A: We host everything on AWS.", "We host everything on GCP now."),
    ("My phone number is 555-1234.", "My new phone number is 555-9876."),
    ("The retry count is set to 3.", "Raised the retry count to 5."),
    ("Billing is owned by Alice.", "Bob owns billing now."),
    ("I drink coffee every morning.", "I stopped drinking coffee."),
    ("Session tokens expire after 24 hours.", "Session tokens now expire after 12 hours."),
    ("billing-api listens on port 7001.", "billing-api gave up port 7001; it is 9002."),
    ("ann: I live in Oslo", "Ann: I live in Rome now"),
    ("The API timeout is 30 seconds.", "We no longer have an API timeout."),
    ("Our API timeout is 30 s.", "There is no API timeout any more."),
    ("Bob lives in Paris.", "Bob moved to Berlin in May."),
    ("Bob lives in Paris.", "Bob moved to Berlin on May 3."),
    ("Bob lives in Paris.", "Bob moved to Berlin over the summer."),
    ("Bob lives in Paris.", "Bob moved to Berlin two weeks ago."),
    ("Bob lives in Paris.", "Bob moved to Berlin with his sister."),
    ("Ann works at Google.", "Ann joined Stripe in Q3."),
    ("Coach: Ms Okoro", "Coach: Mr Silva, formerly Ms Okoro"),
    ("Reviewer: Lin.", "Reviewer: now Omar."),
    ("theme = light", "theme = dark"),
    ("worker.log_level: debug", "worker.log_level: warning"),
    ("Venue: Room 12", "Venue: Room 30"),
    ("Jo works on payments.", "Jo works on search now."),
    ("Jo works at Acme.", "Jo works at Bolt."),
    ("The wiki moved to Notion.", "The wiki is back on Confluence."),
    ("Rent is 950 euros.", "Rent is back to 900 euros."),
    ("I work as a cook at Elm Street Diner.", "I left Elm Street Diner and started at Harbour House."),
    ("Mia works as a welder for Orrin Boats.", "Mia resigned from Orrin Boats and works in Bergen now."),
    ("I volunteer at the museum on Sundays.", "I no longer volunteer at the museum."),
    ("I'm taking zinc for my skin.", "I stopped taking zinc last month."),
    ("Our broker is RabbitMQ 3.9.", "We upgraded to RabbitMQ 4.0."),
    ("I'm allergic to latex.", "It turns out I'm not allergic to latex after all."),
    ("Rafael is allergic to nuts.", "Actually, Rafael is allergic to shellfish, not nuts."),
    ("I have an eye test on Monday at 4.", "The eye test was moved to Wednesday at 9."),
    ("I work at Google.", "I no longer work at Google, I'm at Stripe now."),
)
INDEPENDENT = (
    ("I work as a cook at Elm Street Diner.", "I left my apron at Elm Street Diner and started the van."),
    ("I work as a cook at Elm Street Diner.", "I left Elm Street Diner at nine and took the bus."),
    ("I work as a cook at Elm Street Diner.", "I left Elm Street Diner early."),
    ("I'm the keeper of Dynamo.", "I left Dynamo's stadium."),
    ("I take zinc.", "My uncle stopped taking zinc."),
    ("We have an oil boiler.", "The school replaced its oil boiler with a heat pump."),
    ("I take zinc.", "I stopped taking zinc at night."),
    ("I take zinc.", "I no longer take zinc with milk."),
    ("We use MySQL.", "We no longer use MySQL in staging."),
    ("I eat fish.", "I no longer eat fish on Fridays."),
    ("Our broker is RabbitMQ 3.9.", "A customer upgraded to RabbitMQ 4.0."),
    ("Our broker is RabbitMQ 3.9.", "We upgraded to RabbitMQ 4.0 in staging."),
    ("Our staging broker is RabbitMQ 3.9.", "We upgraded to RabbitMQ 4.0."),
    ("I'm allergic to latex.", "It turns out Ben is not allergic to latex."),
    ("Rafael is allergic to nuts.", "Actually, Ben is allergic to shellfish, not nuts."),
    ("I have an eye test on Monday at 4.", "Noah's eye test was moved to Wednesday at 9."),
    ("I have an eye test on Monday at 4.", "The eye test was moved to room 9."),
    ("Yoga is on Mondays.", "Yoga was cancelled on Monday."),
    ("Bob lives in Paris.", "Bob moved his desk to Berlin Street with Ann."),
    ("I work at Google.", "I joined a gym."),
    ("Leo is allergic to walnuts.", "Leo now goes to Birch Academy."),
    ("Leo is allergic to walnuts.", "Leo is now allergic to peanuts."),
    ("My daughter is allergic to bees.", "My daughter moved to Berlin."),
    ("Ada is married to Bob.", "Ada now goes to Birch Academy."),
    ("Leo is close to Ann.", "Leo moved to Rome."),
    ("Ann works at Google.", "Ann joined the Alps club."),
    ("The office is in Hamburg.", "The office switched to LED lights."),
    ("Our team is in Oslo.", "Our team switched to Slack."),
    ("Ann lives in Porto.", "Ann switched to decaf."),
    ("The API timeout is 30 seconds.", "We no longer have an API timeout in staging."),
    ("The API timeout is 30 seconds.", "We no longer have an upload timeout."),
    ("The car insurance is 40 euros.", "We no longer have a car."),
    ("The call is at nine.", "I am no longer on call."),
    ("Ann lives in Porto.", "Ben lives in Lisbon."),
    ("The rate limit of search is 100.", "The rate limit of upload is 250."),
    ("Ann lives in Porto.", "Ann was born in Lisbon."),
    ("Ann lives in Porto.", "Ann works in Lisbon."),
    ("Ann speaks French.", "Ann speaks German."),
    ("I like tea.", "I like coffee."),
    ("We use Postgres.", "We use Redis for caching."),
    ("The staging port is 80.", "The production port is 443."),
    ("We use MySQL.", "In 2019 we used Oracle."),
    ("We use MySQL.", "Should we move from MySQL to Postgres?"),
    ("We use MySQL.", "We might move from MySQL to Postgres."),
    ("We use MySQL.", "Netflix moved from MySQL to Postgres."),
    ("The rate limit is 100.", "The rate limit for admins is 250."),
    ("The upload limit is 100 requests.", "The upload limit is 20 MB."),
    ("Ann is a doctor.", "Ann is tall."),
    ("Ann lives in Porto.", "Ann lives in Porto, Portugal."),
    ("The backup runs at 2:00.", "The cleanup runs at 3:00."),
    ("Tests run on Linux.", "Tests for the client run on macOS."),
    ("My sister lives in Porto.", "My brother lives in Lisbon."),
    ("The kitchen is painted white.", "The bathroom is painted blue."),
    ("We met Ann on Monday.", "We met Ann on Tuesday."),
    ("Ticket 123 is about login.", "Ticket 124 is about logout."),
    ("I bought apples.", "I bought pears."),
    ("Service A depends on Redis.", "Service B depends on Kafka."),
    ("The API returns 404 for unknown users.", "The API returns 401 for missing tokens."),
    ("We use Jenkins for CI.", "We use ArgoCD for CD."),
    ("Bob owns billing.", "Bob owns search."),
    ("I work at Google.", "My wife works at Stripe."),
    ("MySQL 8 needs utf8mb4 for emoji.", "We moved from MySQL to Postgres."),
    ("Ann flew from Oslo to Rome.", "Ann flew from Rome to Madrid."),
    ("If the limit is 100, requests fail.", "The limit is 250."),
    ("The blog says the limit is 100.", "The limit is 250."),
    ("We will move to Postgres next year.", "We use MySQL."),
    ("The config file is in /etc/app.", "The log file is in /var/log/app."),
    ("Emma likes hiking.", "Emma likes swimming now too."),
    ("The API key is stored in Vault.", "The database password is stored in 1Password."),
    ("Release 1.2 shipped on May 3.", "Release 1.3 shipped on June 7."),
    ("Standup is at 9:30 for the web team.", "Standup is at 10:00 for the mobile team."),
    ("Tom drives a Volvo.", "Tom rides a bicycle."),
    ("Tom has a cat.", "Tom has a dog."),
    ("Shopping: flour.", "Shopping: candles."),
    ("Guest of the show: Lin.", "Guest of the show: Omar."),
    ("Birthday: Ann, 3 May.", "Birthday: Bo, 9 June."),
    ("Jo works on payments.", "Jo works on search."),
    ("Jo meets with Ann.", "Jo meets with Bob."),
    ("Our customer is Norr.", "Our customer is Syd."),
    ("Kit is afraid of dogs.", "Kit is afraid of storms."),
    ("I am at the dentist on May 3.", "I am at the dentist on June 7."),
)


@pytest.mark.parametrize(("old", "new"), UPDATES)
def test_what_says_something_else_of_the_same_takes_its_place(old: str, new: str) -> None:
    update = update_of(old, new)
    assert update is not None
    assert update.confidence >= SURE


@pytest.mark.parametrize(("old", "new"), INDEPENDENT)
def test_what_is_only_similar_takes_no_place(old: str, new: str) -> None:
    update = update_of(old, new)
    assert update is None or update.confidence < SURE


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("We use MySQL.", "We moved from MySQL to Postgres.", UpdateReason.FORMER),
        ("Ann is on call.", "Ann is not on call.", UpdateReason.ENDED),
        ("The rate limit is 100.", "The rate limit is 250.", UpdateReason.VALUE),
    ],
)
def test_the_reason_is_told(old: str, new: str, reason: UpdateReason) -> None:
    update = update_of(old, new)
    assert update is not None
    assert update.reason is reason


def test_the_same_text_updates_nothing() -> None:
    for old, new in UPDATES:
        assert update_of(old, old) is None or update_of(old, old).confidence < SURE, old  # type: ignore[union-attr]
        assert update_of(new, new) is None or update_of(new, new).confidence < SURE, new  # type: ignore[union-attr]
