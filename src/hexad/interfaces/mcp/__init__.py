"""A store as an MCP server: nine tools, resources and prompts, over stdio and streamable HTTP."""
