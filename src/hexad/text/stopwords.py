"""English words that say little about what a text is about."""

from __future__ import annotations

from typing import Final

QUESTION_WORDS: Final = frozenset(
    """
    what when where which who whom whose why how whatever whenever wherever whichever whoever
    """.split()
)
"""Words that ask; they tell what kind of answer is wanted and not where to find it."""

STOP_WORDS: Final = frozenset(
    """
    a an the this that these those there here it its itself
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself they them their theirs themselves one ones oneself
    someone somebody something somewhere anyone anybody anything anywhere everyone everybody everything
    everywhere
    no none nobody nothing nowhere not never nor neither either both each every all any some such same other
    others another much many more most few fewer less least several enough own
    be am is are was were been being do does did done doing have has had having
    can could may might must shall should will would ought need let lets
    get gets got gotten getting go goes went gone going make makes made making take takes took taken taking
    put puts give gives gave given come comes came coming say says said saying tell tells told
    know knows knew known think thinks thought want wants wanted like likes liked see sees saw seen look looks
    use uses used using seem seems become becomes keep keeps kept try tries tried
    and or but if then else than because as while until unless although though since so yet
    of at by for with about against between among into onto through during before after above below under
    over to from up down in out on off upon within without across along around behind beside besides beyond
    near per via toward towards despite except instead
    again further once twice ever always often sometimes usually already still just only also too very quite
    rather almost even well maybe perhaps really actually basically simply now soon later today tonight
    however therefore thus hence moreover meanwhile otherwise anyway indeed
    yes yeah yep ok okay oh hey hi hello wow thanks thank please sure right great good nice cool lot lots bit
    thing things stuff way ways kind sort etc eg ie vs
    ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn weren won wouldn
    ll ve re im ive id youre youve theyre thats whats dont doesnt didnt cant wont isnt arent wasnt
    s t d m
    """.split()
).union(QUESTION_WORDS)
"""Words without a subject of their own, the question words and the rests of contractions among them."""
