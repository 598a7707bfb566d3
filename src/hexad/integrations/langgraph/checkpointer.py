"""`HexadCheckpointer`: the states of a graph, in the store that its agent remembers with."""

from __future__ import annotations

import json
from asyncio import to_thread
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast
from zlib import crc32

import ormsgpack
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from hexad.agent_state.checkpoints import (
    CheckpointKey,
    Checkpoints,
    PendingWrite,
    StateValue,
    StoredCheckpoint,
)
from hexad.core.arguments import is_whole, json_fault, quoted, value_list
from hexad.engine import Hexad
from hexad.errors import InvalidInput
from hexad.integrations.open_store import owned_context

_INLINE_BYTES: Final = 256
"""Values up to this length stand in the checkpoint itself: a piece of their own costs more than it saves."""
_SHORT_LIST: Final = 4
_SPREAD: Final = 2_654_435_761
"""A list is cut after an item whose checksum, spread over its upper bits, begins with four zeros, so every 16 items:
what was appended to a list, or taken from its beginning, leaves the other pieces as they are. The checksums of
texts that differ in a number alone are alike in their lower bits."""
_MSGPACK: Final = "msgpack"
_PLAIN: Final = (
    ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
    | ormsgpack.OPT_PASSTHROUGH_UUID
)
"""Refuses all but texts, numbers, booleans, None, and lists and objects of them: their bytes tell all values apart."""
_PACKED_BYTES_LIMIT: Final = 8 << 20
"""So many bytes of messages are kept as they were serialized: some 20,000 of a usual length."""
_DELTA_CHANNELS: Final = "counters_since_delta_snapshot"


_Packed: TypeAlias = tuple[bytes, bool]
"""An item of a list as bytes, and whether a piece ends with it."""


class HexadCheckpointer(BaseCheckpointSaver[Any]):
    """A LangGraph checkpointer over an open Hexad store, for sync and async graphs, threads and processes.

    A checkpoint is durable when `put` returns. A value is stored once in its thread however many checkpoints hold it,
    and of a growing list only what is new. Checkpoints are bytes that redaction leaves as they are, encrypted with
    the store; `hx.forget(session=thread_id, purge=True, confirm=True)` erases a thread for good.

    Raises `InvalidInput` for what is no open store and for a `serde` that is none, `AccessDenied` for a store that was
    opened with a role.
    """

    def __init__(self, store: Hexad, *, serde: SerializerProtocol | None = None) -> None:
        if serde is not None and not _serializes(serde):
            raise InvalidInput(
                f"serde = {quoted(serde)} must be a serializer of LangGraph (dumps_typed, loads_typed) or None.",
                argument="serde",
            )
        super().__init__(serde=serde)
        self._db = owned_context(store, by="HexadCheckpointer").db
        self._checkpoints = Checkpoints(self._db)
        self._packed: dict[tuple[type, bytes], _Packed] = {}
        """Messages as they were serialized, by all that their bytes depend on."""
        self._packed_bytes = 0

    # Writing ----------------------------------------------------------------------------------------------------

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,  # noqa: ARG002 - a value is known by its bytes, whatever its version
    ) -> RunnableConfig:
        """Store a checkpoint durably and return the config that names it."""
        thread, namespace, parent = _place(config)
        if not _is_checkpoint(checkpoint):
            raise InvalidInput(
                f"checkpoint = {quoted(checkpoint)} must be LangGraph's dictionary, with an id and channel_values.",
                argument="checkpoint",
            )
        if not isinstance(metadata, Mapping):
            raise InvalidInput(
                f"metadata = {quoted(metadata)} must be LangGraph's dictionary.", argument="metadata"
            )
        small: dict[str, Any] = {}
        values: dict[str, StateValue] = {}
        for channel, value in checkpoint["channel_values"].items():
            packed = self._pack(value)
            if sum(map(len, packed.pieces)) <= _INLINE_BYTES:
                small[channel] = value
            else:
                values[channel] = packed
        encoding, head = self.serde.dumps_typed({**checkpoint, "channel_values": small})
        noted = get_serializable_checkpoint_metadata(config, metadata)
        try:
            written = json.dumps(noted)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(
                f"metadata cannot be stored as JSON: {json_fault(error)}.", argument="metadata"
            ) from error
        run = noted.get("run_id")
        self._checkpoints.put(
            StoredCheckpoint(
                key=CheckpointKey(thread=thread, namespace=namespace, id=checkpoint["id"]),
                parent_id=parent,
                run_id=None if run is None else str(run),
                encoding=encoding,
                head=head,
                values=values,
                metadata=written,
            )
        )
        return _config(config["configurable"]["thread_id"], namespace, checkpoint["id"])

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store what a task wrote after a checkpoint.

        An interrupt, an error and such, which no checkpoint follows, are on the disk when it returns; all else with
        the checkpoint that follows.
        """
        thread, namespace, checkpoint_id = _place(config)
        if checkpoint_id is None:
            raise InvalidInput("The config of writes must have a checkpoint_id.", argument="config")
        task = _id("task_id", task_id)
        if not isinstance(task_path, str):
            raise InvalidInput(f"task_path = {quoted(task_path)} must be a string.", argument="task_path")
        listed = value_list(writes, "writes", of="pairs of a channel and a value")
        for write in listed:
            if not isinstance(write, tuple | list) or len(write) != 2 or not isinstance(write[0], str):
                raise InvalidInput(
                    f"writes has {quoted(write)}; give pairs of a channel and a value.", argument="writes"
                )
        rows = []
        for position, (channel, value) in enumerate(listed):
            encoding, data = self.serde.dumps_typed(value)
            rows.append(
                PendingWrite(
                    task_id=task,
                    task_path=task_path,
                    position=WRITES_IDX_MAP.get(channel, position),
                    channel=channel,
                    encoding=encoding,
                    data=data,
                )
            )
        self._checkpoints.put_writes(
            CheckpointKey(thread=thread, namespace=namespace, id=checkpoint_id),
            rows,
            replace=all(channel in WRITES_IDX_MAP for channel, _ in listed),
            durable=any(channel in WRITES_IDX_MAP for channel, _ in listed),
        )

    def _pack(self, value: object) -> StateValue:
        """Return a value as bytes; a list as those of its items, some together, where they make up its own."""
        if type(value) is list and len(value) > _SHORT_LIST and type(self.serde) is JsonPlusSerializer:
            items = [packed for item in value if (packed := self._pack_item(item)) is not None]
            if len(items) == len(value):
                return StateValue(encoding=_MSGPACK, pieces=_grouped(items), count=len(items))
        encoding, data = self.serde.dumps_typed(value)
        return StateValue(encoding=encoding, pieces=(data,))

    def _pack_item(self, item: object) -> _Packed | None:
        """Return an item of a list as bytes, None where they are none of MessagePack.

        A message is serialized once, as long as it stays the same: a conversation is handed over whole at each step.
        """
        key = _key_of(item)
        if key is not None and (packed := self._packed.get(key)) is not None:
            return packed
        encoding, data = self.serde.dumps_typed(item)
        if encoding != _MSGPACK:
            return None
        # The checksums of texts that differ in a number alone are alike in their lower bits.
        packed = data, (crc32(data) * _SPREAD & 0xFFFFFFFF) >> 28 == 0
        if key is not None:
            if self._packed_bytes > _PACKED_BYTES_LIMIT:
                self._packed, self._packed_bytes = {}, 0
            self._packed[key] = packed
            self._packed_bytes += len(key[1]) + len(data)
        return packed

    # Reading ----------------------------------------------------------------------------------------------------

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that the config names, the newest of its thread where it names none; else None."""
        thread, namespace, checkpoint_id = _place(config)
        stored = (
            self._checkpoints.latest(thread, namespace)
            if checkpoint_id is None
            else self._checkpoints.get(CheckpointKey(thread=thread, namespace=namespace, id=checkpoint_id))
        )
        return None if stored is None else self._tuple(stored)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Return checkpoints, the newest first; `filter` are values that their metadata have."""
        for name, given in (("config", config), ("before", before)):
            if given is not None and not _is_config(given):
                raise InvalidInput(
                    f"{name} = {quoted(given)} must be a config, such as "
                    "{'configurable': {'thread_id': 'a', 'checkpoint_id': '…'}}.",
                    argument=name,
                )
        if filter is not None and not isinstance(filter, dict):
            raise InvalidInput(
                f"filter = {quoted(filter)} must be a dictionary of values of metadata.", argument="filter"
            )
        if limit is not None and not is_whole(limit, 0):
            raise InvalidInput(
                f"limit = {quoted(limit)} must be a whole number, at least 0.", argument="limit"
            )
        return self._listed(config, filter=filter, before=before, limit=limit)

    def _listed(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> Iterator[CheckpointTuple]:
        configurable = {} if config is None else config["configurable"]
        thread, namespace = configurable.get("thread_id"), configurable.get("checkpoint_ns")
        left = limit
        for key, metadata in self._checkpoints.find(
            None if thread is None else str(thread),
            namespace=None if namespace is None else str(namespace),
            id=None if config is None else get_checkpoint_id(config),
            before=None if before is None else get_checkpoint_id(before),
        ):
            if left == 0:
                return
            if filter:
                noted = json.loads(metadata)
                if any(noted.get(name) != wanted for name, wanted in filter.items()):
                    continue
            stored = self._checkpoints.get(key)
            if stored is not None:  # nobody deleted it since
                left = None if left is None else left - 1
                yield self._tuple(stored)

    def _tuple(self, stored: StoredCheckpoint) -> CheckpointTuple:
        key = stored.key
        checkpoint = self.serde.loads_typed((stored.encoding, stored.head))
        for channel, value in stored.values.items():
            data = b"".join(value.pieces)
            if value.count is not None:
                data = _array_header(value.count) + data
            checkpoint["channel_values"][channel] = self.serde.loads_typed((value.encoding, data))
        return CheckpointTuple(
            _config(key.thread, key.namespace, key.id),
            checkpoint,
            json.loads(stored.metadata),
            None if stored.parent_id is None else _config(key.thread, key.namespace, stored.parent_id),
            [
                (write.task_id, write.channel, self.serde.loads_typed((write.encoding, write.data)))
                for write in stored.writes
            ],
        )

    # Threads ----------------------------------------------------------------------------------------------------

    def delete_thread(self, thread_id: str) -> None:
        """Delete all of a thread. `hx.forget(session=thread_id, purge=True)` erases it, with a receipt."""
        self._checkpoints.delete_threads([_id("thread_id", thread_id)])

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints of these runs; a `DeltaChannel` that builds on them is cut, as LangGraph warns."""
        self._checkpoints.delete_runs(_ids("run_ids", run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Store all of a thread, its whole chain, under another id as well."""
        self._checkpoints.copy(
            _id("source_thread_id", source_thread_id), _id("target_thread_id", target_thread_id)
        )

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete all but the newest checkpoint of each namespace, or with the strategy `delete` all of the threads.

        Older ones that a `DeltaChannel` of the newest builds on stay.
        """
        threads = _ids("thread_ids", thread_ids)
        if strategy == "delete":
            self._checkpoints.delete_threads(threads)
            return
        if strategy != "keep_latest":
            raise InvalidInput(
                f"strategy = {strategy!r} is not known; choose keep_latest or delete.", argument="strategy"
            )
        for thread in threads:
            keys = [key for key, _ in self._checkpoints.find(thread)]
            newest = {key.namespace: key for key in reversed(keys)}
            kept = {needed for key in newest.values() for needed in self._chain(key)}
            self._checkpoints.delete(key for key in keys if key not in kept)

    def _chain(self, key: CheckpointKey) -> Iterator[CheckpointKey]:
        """Yield a checkpoint and its ancestors, back to where each of its delta channels has a value."""
        cursor: CheckpointKey | None = key
        missing: set[str] | None = None
        while cursor is not None and (stored := self._checkpoints.get(cursor)) is not None:
            yield cursor
            if missing is None:
                missing = set(json.loads(stored.metadata).get(_DELTA_CHANNELS) or ())
            head = self.serde.loads_typed((stored.encoding, stored.head))
            missing -= {*head["channel_values"], *stored.values}
            parent = stored.parent_id
            cursor = (
                CheckpointKey(thread=key.thread, namespace=key.namespace, id=parent)
                if missing and parent is not None
                else None
            )

    # The same for coroutines: each call on a thread of its own, while the loop goes on ---------------------------

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """As `get_tuple`."""
        return await to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """As `list`."""
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (checkpoint := await to_thread(next, found, None)) is not None:
            yield checkpoint

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """As `put`."""
        return await to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """As `put_writes`."""
        await to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """As `delete_thread`."""
        await to_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """As `delete_for_runs`."""
        await to_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """As `copy_thread`."""
        await to_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """As `prune`."""
        await to_thread(self.prune, thread_ids, strategy=strategy)

    def get_next_version(self, current: Any, channel: None) -> Any:  # noqa: ARG002
        """Return the next version of a channel: a number, and of a thread from another checkpointer its own form.

        A graph asks for one before its first node runs; of a store that was opened read-only it raises
        `StorageFailure`, before a model is asked whose answer `put` could not keep.
        """
        self._db.require_writable()
        if isinstance(current, str):  # the form of LangGraph's own checkpointers, which sorts as text
            return f"{int(current.partition('.')[0]) + 1:032}.{0:016}"
        return 1 if current is None else current + 1


def _ids(argument: str, ids: Sequence[object]) -> list[str]:
    """Return ids as LangGraph hands them over. Raises `InvalidInput` for one string, whose letters are no ids."""
    if isinstance(ids, str | bytes) or not isinstance(ids, Collection):
        raise InvalidInput(f"{argument} must be a list of ids, not {ids!r}.", argument=argument)
    return [_id(argument, given) for given in ids]


def _id(argument: str, given: object) -> str:
    """Return an id as text; raises `InvalidInput` for none: the thread of None would be one called so."""
    if not _named(given):
        raise InvalidInput(
            f"{argument} = {quoted(given)} names nothing; give an id that is not blank.", argument=argument
        )
    return str(given)


def _is_checkpoint(given: object) -> bool:
    return (
        isinstance(given, Mapping)
        and _named(given.get("id"))
        and isinstance(given.get("channel_values"), Mapping)
    )


def _serializes(serde: object) -> bool:
    """Whether this is a serializer; LangGraph takes those without types as well."""
    return any(
        all(callable(getattr(serde, name, None)) for name in names)
        for names in (("dumps_typed", "loads_typed"), ("dumps", "loads"))
    )


def _is_config(given: object) -> bool:
    return isinstance(given, Mapping) and isinstance(given.get("configurable"), Mapping)


def _named(thread_id: object) -> bool:
    """Whether this is an id: a text, or what LangGraph makes one of, such as a number or a UUID."""
    if isinstance(thread_id, str):
        return bool(thread_id.strip())
    return thread_id is not None and not isinstance(thread_id, bool | float | Collection)


def _place(config: RunnableConfig) -> tuple[str, str, str | None]:
    """Return thread, namespace and checkpoint id of a config; raises `InvalidInput` for one that names no thread."""
    if not _is_config(config) or not _named(config["configurable"].get("thread_id")):
        raise InvalidInput(
            f"config = {quoted(config)} names no thread; give {{'configurable': {{'thread_id': '…'}}}}.",
            argument="config",
        )
    configurable = config["configurable"]
    namespace, checkpoint_id = configurable.get("checkpoint_ns") or "", get_checkpoint_id(config) or None
    for name, given in (("checkpoint_ns", namespace), ("checkpoint_id", checkpoint_id)):
        if given is not None and not isinstance(given, str):
            raise InvalidInput(
                f"config has {name} = {quoted(given)}, which must be a string.", argument="config"
            )
    return str(configurable["thread_id"]), namespace, checkpoint_id


def _config(thread_id: object, namespace: str, checkpoint_id: str) -> RunnableConfig:
    named = {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}
    return cast(RunnableConfig, {"configurable": named})


def _key_of(item: object) -> tuple[type, bytes] | None:
    """Return all that the bytes of a message depend on, None for what is no message or holds more than plain values."""
    if not isinstance(item, BaseMessage) or item.__pydantic_extra__:
        return None
    try:
        return type(item), ormsgpack.packb(item.__dict__, option=_PLAIN)
    except (TypeError, ValueError):
        return None


def _grouped(items: Collection[_Packed]) -> tuple[bytes, ...]:
    """Return items joined to pieces, cut where their own bytes say so: the same items give the same pieces."""
    pieces: list[bytes] = []
    group: list[bytes] = []
    for data, is_last in items:
        group.append(data)
        if is_last:
            pieces.append(b"".join(group))
            group = []
    return (*pieces, b"".join(group)) if group else tuple(pieces)


def _array_header(count: int) -> bytes:
    """Return how MessagePack begins an array of so many items."""
    if count < 1 << 4:
        return bytes([0x90 | count])
    return b"\xdc" + count.to_bytes(2) if count < 1 << 16 else b"\xdd" + count.to_bytes(4)
