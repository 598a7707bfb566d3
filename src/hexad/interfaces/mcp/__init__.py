"""A store as an MCP server: eight tools, resources and prompts, over stdio and streamable HTTP."""
