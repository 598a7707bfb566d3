"""Which file an import means, and where else a name may be defined: one module for each family of languages."""
