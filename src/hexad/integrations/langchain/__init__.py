"""LangChain over a Hexad store: documents, what recalls find, conversations, caches and bytes (extra `langchain`)."""

try:
    from hexad.integrations.langchain.chat_history import HexadChatMessageHistory
    from hexad.integrations.langchain.documents import HexadRetriever, HexadVectorStore
    from hexad.integrations.langchain.key_value import HexadByteStore, HexadCache
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] == "hexad":
        raise
    raise ImportError(
        f"hexad.integrations.langchain needs the package {error.name!r}; install the extra: "
        "pip install 'hexad[langchain]'."
    ) from error

__all__ = ["HexadByteStore", "HexadCache", "HexadChatMessageHistory", "HexadRetriever", "HexadVectorStore"]
