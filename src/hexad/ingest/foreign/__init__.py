"""Readers of other memory systems' exports and files; docs/imports.md says where each format is described.

Each gives `Item`s in the words that Hexad has for them, keeps what the other system said of a memory under
`metadata.imported`, and gives a `Skip` with the record's place for what cannot be read.
"""
