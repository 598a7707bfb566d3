"""A year of an agent's life in a minute: what is recorded, kept, handed in and forgotten, and what then is still known.

`AgentYear` plays it into a store under a frozen clock, by nothing but `hx.xdb` and `hx.maintain()`. It knows what it
recorded and which topics it planted, so that `problems` can say what the store got wrong. The same seed gives the
same year. Try a contract, a context window or a storage limit before an agent lives with it.
"""

from __future__ import annotations

from agent_year.books import Books
from agent_year.life import AgentYear
from agent_year.plan import YearShape

__all__ = ["AgentYear", "Books", "YearShape"]
