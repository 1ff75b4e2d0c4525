"""Where navigations, locks and counts are kept: folders, PostgreSQL, buckets."""
