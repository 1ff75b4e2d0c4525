"""Which storage a bucket's address leads to."""

from __future__ import annotations

from navigator.stores.buckets.bucket import Bucket
from navigator.stores.store_address import GCS, BucketAddress


def open_bucket(address: BucketAddress, attempts: int = 3) -> Bucket:
    """Return the bucket at ``address``, whose calls are tried so often; nobody is connected to yet."""
    if address.storage == GCS:
        from navigator.stores.buckets.gcs import GcsBucket  # noqa: PLC0415 - only where one is named

        return GcsBucket(address, attempts)
    from navigator.stores.buckets.s3 import S3Bucket  # noqa: PLC0415 - only where one is named

    return S3Bucket(address, attempts)
