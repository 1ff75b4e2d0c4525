"""State, records and reports of navigations: values alone, without the engine."""
