"""What an event of an agent can be: input, output, a tool call and the rest."""

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
