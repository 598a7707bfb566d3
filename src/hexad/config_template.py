"""What `hexad.toml` says in a new store: every setting with its default, as comments."""

from __future__ import annotations

from typing import Final

TEMPLATE: Final = """\
# Settings of this store. Every line is optional; the values shown are the defaults.

# project = "name of the folder"    # first part of generated paths
# embedder = "default"              # "default", "hashing", "none", or "openai:MODEL@https://host/v1"
# durability = "group"              # "group" shares one sync among waiting writers, "full" syncs each alone
# stream_durability = "group"       # of experience: "always" syncs each record, "group" every 20 ms, "os" never
# lenses = ["*"]                    # concepts that the agent may see: "pack::Term", "pack::*", "pack::Term/**", "*"
# auto_tag_threshold = 0.7          # tag what is recorded with concepts that active; without it nothing is
# compaction_model = ""             # writes summaries of experience: "default", or as llm_model; "" makes them here
# compact_after_hours = 168.0       # a session in which nothing was recorded for so long leaves full detail
# xdb_max_storage_bytes = 0         # of all experience: near it, ended sessions lose their detail; 0 is no limit
# xdb_compression_threshold = 0.8   # from which part of a limit on experience is compressed
# xdb_top_k_activations = 10        # concepts and tags that a compressed record keeps
# xdb_submission_grace_days = 7.0   # how long evidence that was rejected stays in full detail
# lock_timeout_s = 30.0             # how long a writer waits for its turn
# env_allow = []                    # names of variables whose values in .env files may be stored
# memory_backend = "basic"          # ordering of bundles: basic, patricia, raptor, hybrid, temporal
# generator = "none"                # writes for remember_raw: "openai:MODEL", "anthropic:MODEL", "google:MODEL",
#                                   # "ollama:MODEL", "huggingface:MODEL", each with "@https://host/v1" for an endpoint
#                                   # of your own; keys come from variables: docs/generators.md
# llm_model = ""                    # the model asked for where a call names none; "" is the generator's own
# memory_semantic_model = ""        # the model of remember_raw; it wins over llm_model
# llm_timeout_s = 60.0              # how long a whole answer may take
# llm_max_tokens = 4096             # most tokens of one answer
# rerank = "none"                   # reorders the best 50 of a recall: "cohere:MODEL", "jina:MODEL", or
#                                   # "openai:MODEL@https://host/v1" for an endpoint of your own
# rerank_timeout_s = 2.0            # how long a recall waits for it, from 0.05 to 60
# role = ""                         # act in this role, as the policies of spaces name it; "" is the owner
# otel = false                      # hand spans, never texts, to OpenTelemetry

# [privacy]
# pii = "sensitive"                 # personal data taken out of every text before it is stored: "sensitive" (numbers of
#                                   # cards, IBANs, US social security), "all" (addresses and telephones too), "keep"

# [budget]                          # what calls to models may cost in this project; without it there is no bound
# usd = 5.0
# tokens = 1000000
# period = "month"                  # "total", "month" or "day", in UTC
# providers = {openai = {usd = 2.0, period = "day"}}

# [prices]                          # US dollars per million tokens; they win over those that are known
# "openai:MODEL" = {input = 0.15, output = 0.60}

# [user]                            # what is known of you across projects: docs/user.md
# learning = true                   # false: what this project published goes, and nothing is learned from it
# allow_plain = false               # true: an encrypted project may write to a user layer that is not
# drift_projects = 5                # a preference that so many projects in a row do without becomes less sure

# [consolidation]                   # what is merged, archived and promoted by itself: docs/consolidation.md
# nightly = true                    # of the project, once a day; "weekly", or false: by hand alone
# monthly = true                    # of what is known of you across projects
# sessions = true                   # what a task that ended left becomes memories of the project
# archive_months = 12.0             # untouched for so long (logs half as long), and not important: archived; 0 never
# drop_below = 0.2                  # facts of less importance than that, unread for so long: archived; 0 never
# drop_after_days = 30.0
# session_days = 180.0              # a working set that ended so long ago is removed; 0 never
# quotas = {project = 50000}        # items of a layer: session, project, user, vector, graph, governance; none is set
# quota_bytes = {vector = 100000000}  # bytes of its texts

# [router]                          # of `context`: docs/context.md
# layer_ms = 50.0                   # how long one layer may take, and all of them
# total_ms = 150.0
# feedback = true                   # false: what was said of answers does not count for later ones
# plain = true                      # false: a plain sentence carries no filters, whatever it says
# quotas = {session = 0.4, project = 0.2, user = 0.1, vector = 0.15, graph = 0.1, governance = 0.05}
# weights = {relevance = 0.7, recency = 0.05, authority = 0.15, confidence = 0.05, importance = 0.05, decay = 0.0231}

# [honeycomb]                       # the association graph: docs/honeycomb.md
# max_nodes = 100000                # nodes of add_node; memories are not counted
# max_data_bytes = 8192             # of the text of such a node
# half_life_hours = 24.0            # of the part of a score that is recency
# cosine_weight = 0.7               # with decay_weight 1
# decay_weight = 0.3
# ring_half_lives_days = [0, 30]    # of edges in walks: the main ring, overflow ring 1, 2, …; 0 does not age
# loop_limit = 3                    # more accesses than that within the window are a loop
# loop_window_s = 10.0
# session_s = 3600.0                # after which a session has expired

# [encryption]                      # for `hexad encrypt` and `hexad init --encrypt`: docs/encryption.md
# provider = "keyring"              # "keyring", "key_file", "passphrase" or "command"
# key_file = "~/keys/project.key"   # not in the project: whoever has both has everything
"""
