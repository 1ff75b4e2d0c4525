"""Who means whom: uses of names resolved to the definitions that they mean, as far as that is written.

From source to meaning, each step in one place:

1. **Facts** (worker processes; ``parsing/facts_reader.py``, ``languages/*/reader.py``). The reader of a
   family takes two things from a syntax tree. A *site* is a use of a name: the name, the expression before
   it, its line. A *binding* is a name and what is written of its meaning: an import, an assigned
   expression, a written type, a base, a result. Neither is resolved. ``parsing/facts_model.py`` has their
   kinds, and ``parsing/expressions.py`` the one grammar in which expressions and types are stored.
2. **Views** (``file_facts.py``). The facts of one file grouped as scopes see them: what binds a name in which
   scope, the fields of a class, the members of a scope.
3. **Values** (``core/values.py``). An expression is evaluated to at most eight values: an object or a class
   of ours, a function, a module, or something *external*, which is known to be none of ours. No values mean
   that what is written does not say; that is never guessed.
4. **Rules** (``core/resolver.py``). One ``Resolver`` for each family, asked once for each site. A bare name
   is looked up from the innermost scope outwards, then at the top of the file: imports, the package, what the
   language brings. A member is looked up in what stands before the dot: first in its own type, then along the
   order of inheritance. That holds where types are written (Go, Java and Kotlin, C and C++, Rust, PHP, Ruby).
   ``core/overloads.py`` picks one of several functions by the arguments of a call, ``core/dynamic.py`` has
   what holds where values are followed (Python, JavaScript and TypeScript). A family overrides what it does
   otherwise.
5. **Limits** (``core/memo.py``). Each answer is kept. One that needs itself is empty, and nothing that was
   found on the way is kept then. A question has a number of steps and CPU seconds; a site beyond them is left
   open, and counted.
6. **Questions** (``resolve.py``). Callers, uses, overrides, importers and tests, found from the sites that
   bear a name. A relation is *resolved* where the values of a site are one definition, *likely* where the
   only method of that name is meant by elimination, and *possible* for one of several.

For example, in ``self.task.run()`` the site is ``run`` with the receiver ``self.task``. Its root ``self`` is
an object of the class around. The field ``task`` is bound in that class to the expression ``Task()``, whose
value is an object of ``Task``, which an import binds to a class of another file. ``run`` is looked up in that
class, then in its bases.

``file_references.py`` is apart from all that: it reads strings that name files, as they are asked for.
"""
