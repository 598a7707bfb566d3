"""`make upstream`: the tests that frameworks have for their own memories, run with our adapters in the place of these.

The tests come in the frameworks' source distributions, which are fetched below `build/upstream` and never committed.
`suites.toml` says which, and which tests cannot pass and why; a plugin of pytest here puts our adapter in the place.
"""
