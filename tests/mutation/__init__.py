"""The mutation check: a small mistake in the code of a capability row must turn one of the row's tests red.

    python tests/mutation                      a sample of 40 rows, always the same
    python tests/mutation --rows H018 L057     these rows
    python tests/mutation --all                every row
    python tests/mutation --map                find anew which functions are the code of which row

`tests/data/code_of_rows.json` says which functions are the code of a row (`mutation.code`). A mistake is put into a
line of them that the row's tests execute (`mutation.sites`), where the module is imported (`mutation.hook`); no file
is changed. Which mistake is a matter of the row's name and the statement alone, so that it stays the same when other
code changes.
"""
