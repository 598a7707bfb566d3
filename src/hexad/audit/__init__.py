"""The audit ledger."""
