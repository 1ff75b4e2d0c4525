"""Wishes: what changes a context, and the ways to wish it."""

from __future__ import annotations

from typing import Final

from repo_map.feedback.operations import Operation, Row

WISHES: Final = (
    Row(
        Operation.NUMBERS,
        "Shows the source of places of the menu, by their numbers; `without tests` leaves tests aside.",
        "3, 7 and 12",
        ("3, 7 and 12", "2-5 without tests", "Please give me numbers 1, 4 and 6 from the menu."),
    ),
    Row(
        Operation.FINISH,
        "Takes the context as it is, and ends the navigation.",
        "that's enough",
        ("thanks, that's enough", "finish", "Perfect, I have what I need now."),
        (
            "that('ll| will) do",
            "that('s| is| should be) (enough|sufficient|all)( context)?( i need)?",
            "that('s| is| should be) (enough|sufficient) (for me |context )?to <work>( <aside>)?",
            "(finish|stop|end)( here| now)?",
            "((i'm|we're) )?(done|finished)( here)?",
            "(i|we) (can stop|have (everything|all|what|enough)( i need)?( to <work>( <aside>)?)?)",
        ),
    ),
    Row(
        Operation.NOTHING,
        "Small talk: nothing happens.",
        "thanks",
        ("thanks", "ok", "Looks good so far"),
        (
            "thanks?( you| a lot| very much)*|thx|ok(ay)?|good|great|nice|fine|perfect|yes|hi|hello"
            "|(nice|good|great) (work|start)( so far)?",
            "(keep|fit) (it|everything) (below|under|into) (that|it)",
            "((it|this|that)('s| is)? |looks? )(good|great|fine|helpful|good start)",
        ),
    ),
    Row(
        Operation.UNDO,
        "Takes back the last change, the last few, or all of them.",
        "undo",
        ("undo that", "Undo the last two changes", "start over"),
        (
            "(undo|revert|scrap|scratch|take back)( that| it| this)?",
            "(undo|revert|cancel|take back) (that |my )?last( <count>)?( changes?| steps?)?",
            "(undo|reset|revert)( everything| all)?( to (beginning|start|first (version|packet)))?",
            "go back( (<count>|a) steps?| to first (version|packet))?",
            "start over",
        ),
    ),
    Row(
        Operation.BUDGET,
        "Sets the tokens of the context, or makes it larger or smaller: by half and by a third, or twofold.",
        "use 16k tokens",
        ("use 16k tokens", "bigger budget", "halve it", "Make it a bit shorter, please"),
    ),
    Row(
        Operation.TESTS,
        "Shows the source of the tests that reach a definition.",
        "show the tests of {}",
        ("show the tests for merge_cookies", "Please add the unit tests of Retry.backoff"),
        ("(?!add\\s+(an?\\s+|unit\\s+)*tests?\\s)<show> <tests> (<of>|(that )?<cover>) {}",),
    ),
    Row(
        Operation.CALLERS,
        "Shows the source of what calls or uses a definition.",
        "show the callers of {}",
        ("also include the callers of Session.send", "Show me everything that calls Retry.backoff"),
        ("<show> (all )?<callers> (of|to) {}", "<show> (everything|what|functions)( that)? <call> {}"),
    ),
    Row(
        Operation.USES,
        "Shows the source of what a definition calls or uses.",
        "show what {} uses",
        ("show what Session.send calls", "add the dependencies of Invoice.total"),
        (
            "<show> (everything that|what|whatever|everything) {} (calls|uses|needs|depends on)",
            "<show> (callees|dependencies) of {}",
        ),
    ),
    Row(
        Operation.BACK,
        "Shows again what you left out.",
        "bring back {}",
        ("bring back the tests", "show the tests again", "don't drop the docs"),
        (
            "(restore|bring back|put back|unhide) {}",
            "(bring|put) {} back( in)?",
            "<show> {} (again|after all)",
            "<not> <drop> {}",
        ),
    ),
    Row(
        Operation.LESS,
        "Shows a file or a definition by its definition lines; of many files, those that are shown.",
        "less of {}",
        ("less detail on sessions.py", "Too many tests", "I don't need the whole of sessions.py"),
        (
            "(show )?(less|fewer)( details?| code)? (<of>|about) {}",
            "((there is|there's) )?too (much|many)( <of>| about)? {}",
            "((i |we )?<not> (<show>|need)|not) <whole>( <of>)? {}",
            "(shrink|shorten|trim) {}",
        ),
    ),
    Row(
        Operation.OUTLINE,
        "Shows a file or a definition by its definition lines.",
        "outline of {}",
        ("outline of web/cart.ts", "Show me just the API of Session", "src/shop/auth.py: signatures only"),
        (
            "((<show>|only|just) )*(method )?<outline> <of> {}( (is|are) enough| (will|would) do)?",
            "(reduce|collapse|trim) {}( down)? to (its )?<outline>",
            "{}[:,] (just |only )?<outline>( only)?",
            "(collapse|outline|summari[sz]e) {}",
        ),
    ),
    Row(
        Operation.ONLY,
        "Shows nothing else.",
        "only {}",
        ("only src/shop", "Drop everything except proxy/", "keep only the Go code"),
        (
            "<drop> (everything |all )(except|but|outside) {}",
            "(show |keep )?(only|just|nothing (but|except)) (keep )?{}(,? nothing else)?",
            "(limit|restrict|narrow)( it| this| context)?( down)? to (just )?{}",
        ),
    ),
    Row(
        Operation.OUT,
        "Leaves out files, folders, kinds of files or definitions, until you want them back.",
        "drop {}",
        ("drop the tests", "I don't need Provision and ServeHTTP", "src/billing is not needed."),
        (
            "<drop> ((anything|everything) (in|from|of|about|under|below) )?{}",
            "(leave|take) {} out( of it)?",
            "(i |we )?<not> (need|want|care about|<show>) (anything (in|from|about|under) )?{}( for this)?",
            "{} (is not|are not|isn't|aren't) (needed|relevant|part of this)( (for|to) this( <aside>)?)?",
            "{} (is|are|seems) (just )?(irrelevant|unrelated|noise)( here| to <aside>)?",
            "(everything (in|under) )?{} can (go|be (dropped|removed|omitted|left out))",
        ),
    ),
    Row(
        Operation.MORE,
        "Gives files more weight than all others.",
        "focus on {}",
        ("focus on src/shop/auth.py", "More weight on proxy/", "keep src/shop/config.py"),
        (
            "(show |give )?more (about|(weight|detail)( (on|to))?) {}",
            "(focus|concentrate) on {}",
            "(prefer|prioriti[sz]e|boost|keep) {}",
        ),
    ),
    Row(
        Operation.WHOLE,
        "Shows a file, a definition, lines or what stands around a quoted text in full; "
        "a whole folder gets more weight.",
        "show {}",
        (
            "Show the full file src/shop/auth.py",
            "src/shop/sessions.py:13-20",
            'show where "lb_retry_match" is handled',
        ),
        (
            "(show )?how (is|does) {} (implemented|work)",
            "<show> (how|where|what) {} (is )?(handle|do|work|implement|raise)(s|es|ed|d)?( <aside>)?",
            "(explain|what about|and) {}",
            "what does {} do",
            "<show> (more )?{}",
            "more( context)? (<of>|around) {}",
            "(i'm|i am) missing {}",
            "{} is missing",
            "i miss {}",
            "{} (would|will) (help|be (helpful|useful))( a lot)?",
        ),
    ),
    Row(
        Operation.SEARCH,
        "Looks for what words describe and no name says: they are searched for beside the goal.",
        "look for {}",
        (
            "more about eviction of old entries",
            "find code about connection pooling",
        ),
        (
            "(look|search|(i'm|i am) looking) for {}",
            "is there (any )?(?=(code|something|anything) (that|which|for|about)\\b){}",
            "find (?=(code (that|about|for)|where|how|everything|something)\\b){}",
            "(show |tell )?more (about|on) {}",
            "<show> (?=(how|where) (?!to\\b)){}",
        ),
    ),
)
