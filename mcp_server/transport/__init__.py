"""Bytes in and out: stdio, HTTP connections, which requests are let in, how a server ends."""
