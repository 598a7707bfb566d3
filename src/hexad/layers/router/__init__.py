"""From a question to a plan: its class, its filters, the layers that are asked."""
