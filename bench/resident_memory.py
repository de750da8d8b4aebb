"""How much memory of a process is resident."""

from pathlib import Path


def resident_mib(process_id: int) -> float:
    """Return what Linux says of the process, in MiB."""
    status = Path(f"/proc/{process_id}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024
