"""Erasure, export and wipe over all systems, and what the ledger is told of them."""
