"""Where a team's servers share what they parsed: in its bucket, else in its database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from repo_map.indexing.shared_objects import Sharing

if TYPE_CHECKING:
    from navigator.settings import NavigatorSettings
    from repo_map.indexing.shared_objects import Sharing


def open_sharing(settings: NavigatorSettings) -> Sharing | None:
    """Return what indexes are shared through, None where nothing is; nobody is connected to yet."""
    if not settings.share_index:
        return None
    most_bytes = int(settings.shared_mb * 1e6)
    if settings.bucket is not None:
        from navigator.stores.buckets.opening import open_bucket  # noqa: PLC0415 - only where one is named
        from navigator.stores.buckets.shared_objects import BucketObjects  # noqa: PLC0415 - only where one is named

        # Without the bucket a repository is parsed, which is better than to wait for it for long.
        return Sharing(BucketObjects(open_bucket(settings.bucket, attempts=1)), most_bytes=most_bytes)
    if settings.store is not None:
        from navigator.stores.postgres.shared_objects import PostgresObjects  # noqa: PLC0415 - only where one is named

        return Sharing(PostgresObjects(settings.store), most_bytes=most_bytes)
    return None
