"""Agents that solve tasks with retrieved context: what does the context help, and what does it cost?"""
