"""Questions to the stream: rows, counts and totals of logs, segments and COLD records together."""
