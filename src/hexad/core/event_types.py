"""Event types."""

from __future__ import annotations

from enum import StrEnum


class EventType(StrEnum):
    """What happened at a timestep."""

    INPUT = "input"
    OUTPUT = "output"
    TOOL_CALL = "tool_call"
    TOOL_RESPONSE = "tool_response"
    STEERING = "steering"
    SYSTEM = "system"
