"""LangGraph over a Hexad store: checkpoints of threads, and items that are memories (extra `langgraph`)."""

try:
    from hexad.integrations.langgraph.checkpointer import HexadCheckpointer
    from hexad.integrations.langgraph.store import HexadStore
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] == "hexad":
        raise
    raise ImportError(
        f"hexad.integrations.langgraph needs the package {error.name!r}; install the extra: "
        "pip install 'hexad[langgraph]'."
    ) from error

__all__ = ["HexadCheckpointer", "HexadStore"]
