; Elements define nothing.
