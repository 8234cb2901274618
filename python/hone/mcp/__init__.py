"""Hone's tools for coding agents over the Model Context Protocol: `hone mcp` or `python -m hone.mcp` (docs/AGENTS.md).

folders.py: which paths a client may name. programs.py: the program `hone` as a child process. runs.py: runs in the background.
server.py: the tools and resources. The package decides nothing: what a tool says is what the program printed.
"""
