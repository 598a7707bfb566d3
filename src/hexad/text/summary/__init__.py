"""Sentences, keywords and summaries by extraction."""
