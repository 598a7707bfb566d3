"""A store held through calls: awaited in this process, or over HTTP; the verbs, values and errors of `hexad.open`."""
