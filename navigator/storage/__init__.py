"""Where navigations live: ADK's sessions and artifacts, an index of them, and a lock for each."""
