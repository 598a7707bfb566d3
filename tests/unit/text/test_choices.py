"""What the title of a decision chooses: forms that cannot fit are passed over by their words, and none that fits is."""

from __future__ import annotations

import random

from hexad.text import choices
from hexad.text.choices import TitleChoice, choice_in

VERBS = """
use uses using chose chosen adopted kept taken took prefer preferred switch switched migrate migrating went dropped
dropping removed retire without left got phase throw replaces replaced replacing swap superseded stop banned avoid
against stick settled built stuck
""".split()
OTHERS = """
to from with by for in favor favour of instead rather than over and not but never no longer neither is are was will
should must has now the place our way gives makes goes more nothing too forbidden away down out off rid on vs vs. ->
Redis Kafka RabbitMQ Postgres 16 sessions we because anymore
""".split()


def titles(count: int) -> list[str]:
    """Return as many titles of these words, some with commas, the same each time."""
    draw = random.Random(11)
    made = []
    for _ in range(count):
        words = [draw.choice(VERBS if draw.random() < 0.35 else OTHERS) for _ in range(draw.randint(1, 8))]
        made.append("".join(f"{word}{draw.choice([' ', ' ', ' ', ', ', '; '])}" for word in words).strip())
    return made


def test_no_form_that_fits_a_title_is_passed_over_for_its_words(monkeypatch):
    made = titles(1_500)
    by_words = [choice_in(title) for title in made]
    monkeypatch.setattr(choices, "_FORMS", tuple((None, form) for _, form in choices._FORMS))

    assert [choice_in(title) for title in made] == by_words
    assert len(set(map(str, by_words))) > 500


def test_a_title_of_a_plain_choice_compiles_no_form_of_a_replacement(monkeypatch):
    tried = []

    class Counted:
        def __init__(self, form):
            self.form = form

        def fullmatch(self, text):
            tried.append(self.form)
            return self.form.fullmatch(text)

    monkeypatch.setattr(choices, "_FORMS", tuple((words, Counted(form)) for words, form in choices._FORMS))

    assert TitleChoice(chosen=(("postgresql",),)) == choice_in("Use Postgres")
    assert len(tried) <= 6
