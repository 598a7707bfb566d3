"""The six layers of document 4, and the router that asks them."""
