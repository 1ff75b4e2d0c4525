"""Questions: what is answered and changes nothing, and the ways to ask it."""

from __future__ import annotations

from typing import Final

from repo_map.feedback.operations import Operation, Row

QUESTIONS: Final = (
    Row(
        Operation.LEFT_OUT,
        "Tells the best files that are not shown.",
        "what did you leave out?",
        ("what did you leave out?", "what else is relevant?", "what is missing?"),
        (
            "what (did you (leave out|skip|drop)|(is|was) (missing|left out|not shown))",
            "what('s missing| else( is)?( relevant| there)?)",
        ),
    ),
    Row(
        Operation.WHY,
        "Tells the evidence that put a file or a definition where it is.",
        "why is {} here?",
        (
            "why is src/shop/retry.py here?",
            "Why did you include web/cart.ts?",
            "why don't I see src/billing/invoices.py?",
        ),
        (
            "why (<is>|isn't|(did|do) you (include|show|pick|give|leave out|drop)|don't i see) {}"
            "( (selected|chosen|included|listed|shown|ranked first))?",
            "why (not )?{}( <is>( selected| chosen| listed)?)?",
            "how come {} <is>( here| listed| shown| selected)?",
            "(what is|what's) reason (for including )?{}",
            "(what makes|what evidence (is there )?for) {}( relevant)?",
        ),
    ),
    Row(
        Operation.IMPACT,
        "Tells what a change of a definition reaches: who calls it, and the tests.",
        "what breaks if I change {}?",
        ("what breaks if I change Session.send?", "What is the impact of changing merge_cookies?"),
        (
            "what (breaks|would break|changes|happens)( if| when) (i|we) <change> {}",
            "((what is|what's|what would be) )?(impact|effects?|blast radius) of (<change> )?{}",
        ),
    ),
    Row(
        Operation.IMPORTERS,
        "Tells which files import a file, with the lines.",
        "who imports {}?",
        ("who imports shop/utils.py?", "which files import src/shop/auth.py?"),
        ("(who|what|which (files?|modules?|packages?)) (imports?|includes?|requires?) {}",),
    ),
    Row(
        Operation.IMPORTS,
        "Tells what a file imports, with the lines.",
        "imports of {}",
        ("Give me the imports of sessions.py", "what does src/billing/invoices.py import?"),
        ("(<show> )?imports <of> {}", "what (does|do) {} import( from)?"),
    ),
    Row(
        Operation.HISTORY,
        "Tells the last commits of a file.",
        "history of {}",
        (
            "history of src/shop/retry.py",
            "who changed retry.py last?",
            "show the recent commits to src/shop/retry.py",
        ),
        (
            "(<show> )?((recent|last|latest|git) )*(history|commits?|changes|log) <of> {}",
            "(who|when)( was)? (<change>|wrote) {}( last| recently| lately)?",
            "what (has )?changed( recently| last)? in {}( recently| lately)?",
        ),
    ),
    Row(
        Operation.CLASSES,
        "Tells what a class extends or implements, and what extends or implements it.",
        "class hierarchy of {}",
        ("class hierarchy of AuthBase", "who implements Backend?", "what are the base classes of BasicAuth?"),
        (
            "((<show>|what (is|are)|what's) )?(class hierarchy|subclasses|base class(es)?|parents|children"
            "|implementations) <of> {}",
            "(who|what|which (class|classes|types)) (implements?|extends?|inherits?( from)?) {}",
            "(what|which class) (does|do) {} (inherit( from)?|extend|implement|subclass)",
        ),
    ),
    Row(
        Operation.TESTS,
        "Tells which tests reach a definition, with the lines.",
        "which tests cover {}?",
        ("which tests cover Session.send?", "tests for merge_cookies?", "is LB.tryAgain tested?"),
        (
            "(is|are) there <tests> (<of>|(that )?<cover>) {}",
            "(which|what) <tests>( are there)? (<of>|<cover>) {}",
            "(who|what) tests {}",
            "(is|are) {} (tested|covered( by tests)?)",
            "<tests> (<of>|(that )?<cover>) {}",
        ),
    ),
    Row(
        Operation.CALLERS,
        "Tells who calls or uses a definition, with the line of each call.",
        "who calls {}?",
        ("who calls Session.send?", "where is slug used?", "callers of Retry.backoff?"),
        (
            "((list )?functions( that)?|(who|what)( else)?|which( (functions?|files|classes))?) <call> {}",
            "(from )?where (is|are) {} <called>( from)?",
            "(<show> )?where {} is <called>",
            "where does {} get <called> from",
            "(is|are) {} <called>( anywhere| by anyone)?",
            "((find|list|what are) )?(all )?<callers> (of|to) {}",
        ),
    ),
    Row(
        Operation.USES,
        "Tells what a definition calls or uses.",
        "what does {} use?",
        ("what does Session.send use?", "dependencies of OrderService.placeOrder?"),
        (
            "(what|which)( (functions|helpers|modules))? (does|do) {} (call|use|need|depend on|rely on)",
            "((find|list|what are) )?(callees|dependencies) of {}",
        ),
    ),
    Row(
        Operation.WHERE,
        "Tells where a name is defined, or where a quoted text stands.",
        "where is {}?",
        ("where is slug defined?", "what is Retry?", 'locate "lb_retries"'),
        (
            "where( exactly)? (is|are) {}( defined| declared| located| set| written)?",
            "where's {}( defined| set)?",
            "where (can|do) (i|we) find {}",
            "where (does|do) {} (come from|appear|live)",
            "(find |show |what is )?definition of {}",
            "(find|locate|look for|what is) (?!in |inside ){}",
            "(in )?which file (has|contains|defines|is) {}( defined| in)?",
        ),
    ),
)
