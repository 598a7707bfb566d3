"""The write path: validate, redact, understand, judge, store."""
