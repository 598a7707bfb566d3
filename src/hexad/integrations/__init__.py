"""Hexad where agents are built: one object for a program without a framework, and adapters for those with one."""
