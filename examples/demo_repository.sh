#!/usr/bin/env bash
# Make a small repository with two commits in the folder DIR: the second one changes its telemetry.
set -euo pipefail
cd "$1"

git init --quiet .
git config user.name "Example"
git config user.email "example@localhost"
git config commit.gpgsign false
mkdir -p src/runtime src/net

cat > src/runtime/telemetry.rs << 'RUST'
//! Telemetry of the runtime: spans and counters.

/// Count a recall.
pub fn record_recall(counter: &Counter) {
    counter.add(1);
}
RUST
cat > src/runtime/scheduler.rs << 'RUST'
//! Decides which task runs next.

pub fn next(queue: &mut Queue) -> Option<Task> {
    queue.pop_front()
}
RUST
cat > src/net/socket.rs << 'RUST'
//! Sockets with a time-out.

pub fn connect(address: &str) -> Result<Socket, Error> {
    Socket::open(address)
}
RUST
printf '# Runtime\n\nA runtime with telemetry.\n' > README.md
git add . && git commit --quiet -m "Begin"

cat > src/runtime/telemetry.rs << 'RUST'
//! Telemetry of the runtime: spans and counters.
//!
//! Spans are exported in batches every five seconds. When the exporter fails, batches wait in a ring buffer of
//! 64; the oldest goes first, and `lexon_telemetry_dropped_total` counts it.

const BATCH_SECONDS: u64 = 5;
const WAITING_BATCHES: usize = 64;

/// Count a recall and how long it took, in milliseconds.
pub fn record_recall(counter: &Counter, latency: &Histogram, elapsed_ms: f64) {
    counter.add(1);
    latency.record(elapsed_ms);
}

/// Export the waiting batches, and keep them when the exporter fails.
pub fn flush(buffer: &mut RingBuffer<Batch>, exporter: &dyn Exporter) {
    while let Some(batch) = buffer.front() {
        if exporter.export(batch).is_err() {
            return;
        }
        buffer.pop_front();
    }
}
RUST
cat > src/net/socket.rs << 'RUST'
//! Sockets with a time-out, and telemetry of how long they took to connect.

use crate::runtime::telemetry::record_connect;

pub fn connect(address: &str, timeout_ms: u64) -> Result<Socket, Error> {
    let started = now();
    let socket = Socket::open_within(address, timeout_ms)?;
    record_connect(address, now() - started);
    Ok(socket)
}
RUST
cat > src/runtime/scheduler.rs << 'RUST'
//! Decides which task runs next: the one that waited longest among those of the highest priority.

pub fn next(queue: &mut Queue) -> Option<Task> {
    queue.pop_highest()
}
RUST
printf '# Runtime\n\nA runtime with telemetry in batches.\n' > README.md
git add . && git commit --quiet -m "Export telemetry in batches, and keep them when the exporter fails"
