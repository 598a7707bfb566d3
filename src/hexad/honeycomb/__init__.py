"""The association graph: nodes, edges in rings of six, links, walks."""
