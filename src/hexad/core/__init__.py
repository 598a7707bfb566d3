"""What everything stands on and that knows nothing of memories: errors aside, time, ids, arguments, JSON."""
