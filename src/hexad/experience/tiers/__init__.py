"""Fidelity tiers: pinned windows, compression of COLD records, storage pressure."""
