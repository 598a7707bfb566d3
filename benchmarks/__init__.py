"""Measurements: each figure beside an independent baseline in the same run. See `benchmarks/README.md`."""
