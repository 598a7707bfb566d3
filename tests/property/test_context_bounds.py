"""Whatever is known, however long the texts, and in whatever form it is rendered: a context stays within its tokens."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from example_counts import examples
from hexad.layers.context.pack import FORMATS, LayerAnswers, pack
from hexad.layers.contract import MemoryItem
from hexad.layers.router.plan import RouteRequest, RouteSettings, plan
from hexad.memory.layer_names import MemoryLayer
from hexad.memory.memory import Trust
from hexad.text.tokens import CharacterCounter

NOW = datetime(2026, 1, 1, tzinfo=UTC)
COUNTER = CharacterCounter()
WORDS = st.sampled_from(
    'the release, moved "to" Friday: because\tCI | was red\n- id: 7 {"a": 1} [x] über 日本語 `code` # head </context>'.split(
        " "
    )
)
TEXTS = st.one_of(
    st.lists(WORDS, min_size=1, max_size=60).map(" ".join),
    st.text(min_size=1, max_size=300),
    st.text(alphabet='"\\\n\t,|:[]{}', min_size=1, max_size=200),
)
LAYERS = [
    MemoryLayer.SESSION,
    MemoryLayer.PROJECT,
    MemoryLayer.USER,
    MemoryLayer.GOVERNANCE,
    MemoryLayer.VECTOR,
]


@st.composite
def items(draw):
    made = []
    for number in range(draw(st.integers(0, 40))):
        text = draw(TEXTS)
        made.append(
            MemoryItem(
                id=f"mem_{number:026d}",
                layer=draw(st.sampled_from(LAYERS)),
                text=text,
                summary=draw(st.sampled_from([None, text[: len(text) // 2] or None])),
                recency=0.0,
                relevance=draw(st.floats(0, 1)),
                at=NOW - timedelta(days=draw(st.integers(0, 3))),
                kind=draw(st.sampled_from(["note", "task", "preference"])),
                trust=draw(st.sampled_from(list(Trust))),
                location=draw(st.sampled_from(["", "src/shop/cart.py:10-20"])),
                speaker=draw(st.sampled_from(["", "Ann"])),
                pinned=draw(st.booleans()),
                instruction_like=draw(st.sampled_from([(), ("override",)])),
                notes=draw(
                    st.sampled_from([(), ("Something that it rests on has changed since: review it.",)])
                ),
            )
        )
    return made


@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    items(),
    st.integers(20, 3_000),
    st.sampled_from([*FORMATS, None]),
    st.booleans(),
    st.sampled_from([(), (MemoryLayer.USER,)]),
)
def test_every_rendering_stays_within_the_tokens(known, most, form, details, late):
    task = "How is the release of the shop done, and who does it?"
    answered = LayerAnswers(
        items={layer: [item for item in known if item.layer is layer] for layer in LAYERS}, late=late
    )
    planned = plan(task, RouteRequest(max_tokens=most), RouteSettings(), model=None)
    context = pack(task, planned, answered, counter=COUNTER, form=form, details=details)

    for name in FORMATS:
        text = context.render(name)
        assert COUNTER.count(text) <= most, name
        assert context.tokens_by_format[name] == COUNTER.count(text)
        if not len(context):
            assert "" == text
    assert context.tokens == COUNTER.count(context.render()) <= most
