"""Uses of names resolved to the definitions that they mean, as far as that is written.

1. *Sites* (uses of names) and *bindings* (what is written of a name's meaning) are read by each family's
   ``languages/*/reader.py`` in worker processes; ``parsing/facts_model.py`` has their kinds.
2. ``file_facts.py`` groups the facts of one file as scopes see them.
3. ``core/resolver.py`` evaluates a site to at most eight values (``core/values.py``): one ``Resolver`` for
   each family, which overrides what its languages do otherwise. ``core/overloads.py`` picks one of several
   functions by the arguments of a call, ``core/dynamic.py`` follows values (Python, JavaScript, TypeScript).
4. ``core/memo.py`` caches answers and limits the steps and CPU seconds of a question; a site beyond them is
   left open, and counted.
5. ``resolve.py`` answers: callers, uses, overrides, importers and tests. A relation is *resolved* if the
   values of a site are one definition, *likely* if it is the only method of that name, else *possible*.

``file_references.py`` is apart from that: it reads strings that name files, as they are asked for.
"""
