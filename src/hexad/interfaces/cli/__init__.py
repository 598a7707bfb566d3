"""The command line: one module per group of commands, imported only when one of them runs."""
