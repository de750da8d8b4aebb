"""The commands for authors of flows: they need files only, no settings, no database and no server."""
