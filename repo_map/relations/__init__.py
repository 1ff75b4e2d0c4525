"""Who means whom: uses of names resolved to the definitions that they mean, as far as that is written."""
