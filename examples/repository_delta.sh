#!/usr/bin/env bash
# What changed? The last commit of a repository becomes memories, and an agent answers a question from them.
#
#   examples/repository_delta.sh [REPOSITORY] [TOPIC] [QUESTION]
#
# Without REPOSITORY it makes a small one of its own, asks about "telemetry", and removes it at the end. It needs
# git and `hexad`, and neither network nor key: without an agent of yours, a local stand-in answers.
#
#   SPACE       the space to use; it is EMPTIED at the start (lexon_repo)
#   PATTERN     which changed files to take, as a regular expression (\.rs$ in the demo, else any file)
#   OUT         where the export goes (exports/$SPACE.json in the repository)
#   AGENT       a command that reads a prompt on stdin and prints its answer, such as: llm -m gpt-4o-mini
#   MODEL       or a model for pydantic-ai, such as openai:gpt-4o-mini (with its key in the environment)
#   DEADLINE_MS how long recall and agent may take together (15000)
#   KEEP        set to anything: leave the demo's repository, and its store, where they are
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=${1:-}
topic=${2:-telemetry}
question=${3:-"Describe the $topic changes of the last commit."}
space=${SPACE:-lexon_repo}

step() { printf '\n== %s\n' "$*"; }

if [[ -z $repository ]]; then
  repository=$(mktemp -d "${TMPDIR:-/tmp}/hexad-example.XXXXXX")
  [[ -n ${KEEP:-} ]] || trap 'rm -rf "$repository"' EXIT
  PATTERN=${PATTERN:-'\.rs$'}
  "$here/demo_repository.sh" "$repository"
fi
cd "$repository"
git rev-parse --verify --quiet HEAD~1 > /dev/null || {
  echo "$repository has no commit before the last one: there is nothing to compare." >&2
  exit 1
}

step "1. The space $space, empty"
hexad spaces create "$space" --reset --yes --metadata '{"project": "lexon"}'

step "2. What the last commit changed"
git diff --name-only --relative --diff-filter=d -z HEAD~1 HEAD |
  while IFS= read -r -d '' file; do
    [[ $file =~ ${PATTERN:-.} ]] || continue
    # What was found out is longer; its first two lines name the memory and its tags.
    hexad remember-raw --space "$space" --kind code --path "$file" "$file" | sed -n '1,2p' ||
      echo "Left out: $file" >&2
  done

step "3. What the space knows about $topic"
hexad spaces bundle "$space" "$topic" --limit 3 --raw --json |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["global_summary"])'

step "4. An agent, with that before its step and a deadline"
"${PYTHON:-python3}" "$here/agent_with_context.py" --deadline-ms "${DEADLINE_MS:-15000}" \
  ${AGENT:+--command "$AGENT"} ${MODEL:+--model "$MODEL"} "$space" "$topic" "$question"

step "5. A signed copy, and what is older than 30 days archived"
hexad memory export "$space" --out "${OUT:-exports/$space.json}"
hexad spaces verify "${OUT:-exports/$space.json}"
hexad spaces policy "$space" allow_delete=true > /dev/null # without it gc archives nothing
hexad memory gc "$space" --ttl-days 30
