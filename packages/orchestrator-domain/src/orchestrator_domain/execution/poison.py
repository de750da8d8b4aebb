"""When an execution counts as poison: claimed again and again, it never gets anywhere."""

CLAIMS_WITHOUT_PROGRESS_MAX = 20
"""How often an execution may be claimed without storing anything; the next claim ends it."""


def is_poison(claims_without_progress: int) -> bool:
    """Say whether this many claims, the present one counted, are too many."""
    return claims_without_progress > CLAIMS_WITHOUT_PROGRESS_MAX
