"""Readers of sources: everything that can be remembered comes in as `Item`, `Skip` or `Unchanged`.

`detect.detect` says what a source is, `read.read` gives its content lazily, `read.count` how much to expect.
"""
