"""`hexad serve`: a store over HTTP, with tokens for logins."""
