"""What a definition would answer, without requests, calls or a store."""
