"""The files of the stream: logs, sealed segments, their manifest, and DuckDB over them."""
