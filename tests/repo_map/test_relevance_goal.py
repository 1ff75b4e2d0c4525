"""Goals are taken apart: titles, code, traces, links, names; boilerplate is dropped; anything goes."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from repo_map.ranking.goal import GoalPart, parse_goal
from repo_map.ranking.goal_places import TraceFrame

ISSUE = """[Bug] Router drops the `cache_key` of nested apps

**Describe the bug**
A clear and concise description of what the bug is.
Calling `Router.dispatch` twice loses the key, see src/app/router.py.

```python
router.dispatch(request, cache_key="home page")
```

Traceback (most recent call last):
  File "/usr/lib/python3/site-packages/app/router.py", line 12, in dispatch
ValueError: no such key in this cache

## Environment
Kubernetes operator 3.2
- OS: Plan9
"""


def test_an_issue_is_taken_apart_into_title_prose_inline_code_blocks_and_errors() -> None:
    goal = parse_goal(ISSUE)
    assert goal.title.startswith("Router drops")
    assert {"router", "drop", "nest"} <= set(goal.terms[GoalPart.TITLE])
    assert "cachekey" in goal.terms[GoalPart.INLINE]
    assert "request" in goal.terms[GoalPart.CODE]
    assert "cach" in goal.terms[GoalPart.ERROR]
    assert "no such key in this cache" in goal.messages


def test_paths_frames_and_qualified_names_are_found() -> None:
    goal = parse_goal(ISSUE)
    assert "src/app/router.py" in goal.paths
    assert goal.frames == (TraceFrame("/usr/lib/python3/site-packages/app/router.py", 12, "dispatch"),)
    assert "Router.dispatch" in goal.dotted


def test_an_awaited_call_a_panic_of_old_and_an_error_of_a_compiler_are_frames() -> None:
    trace = """
    at async Cart.add (src/cart.ts:7:12)
    thread 'main' panicked at 'boom', src/cart.rs:9:5
    lib/cart.cpp:33: error: no member
"""
    frames = {(frame.path, frame.line, frame.function) for frame in parse_goal(trace).frames}
    assert frames == {("src/cart.ts", 7, "add"), ("src/cart.rs", 9, ""), ("lib/cart.cpp", 33, "")}


def test_a_link_into_the_source_is_a_frame_and_a_path() -> None:
    goal = parse_goal("Broken since https://github.com/a/b/blob/0d50ce8/lib/x/message.cpp#L79")
    assert goal.frames == (TraceFrame("lib/x/message.cpp", 79, "", linked=True),)
    assert goal.paths == ("lib/x/message.cpp",)


def test_the_end_of_a_longer_path_is_no_path_of_its_own() -> None:
    trace = 'File "/usr/lib/python3.9/site-packages/shop/cart.py", line 3, in add\nlike src/shop/cart.py'
    goal = parse_goal(trace)
    assert goal.paths == ("src/shop/cart.py",)
    assert goal.frames == (TraceFrame("/usr/lib/python3.9/site-packages/shop/cart.py", 3, "add"),)


def test_operators_flags_and_neighbouring_words_become_names() -> None:
    goal = parse_goal("Quantity `==` array and --show-fixtures forget the cache key")
    assert "eq" in goal.terms[GoalPart.INLINE]
    assert goal.flags == ("show-fixtures",)
    assert "cachekey" in goal.compounds


def test_identifiers_inside_chinese_prose_are_kept_apart() -> None:
    goal = parse_goal("判断字符串是否为JSON对象或parseArray有问题")
    assert {"json", "parsearray"} <= set(goal.terms[GoalPart.TITLE])


def test_a_goal_of_fifty_thousand_characters_is_read_in_a_blink_by_its_head_and_tail() -> None:
    started = time.process_time()
    goal = parse_goal(
        "Fix `the_head`\n" + "lorem (ipsum) dolor.sit `amet` \n" * 1600 + "ValueError: the tail"
    )
    assert time.process_time() - started < 2
    assert "thehead" in goal.terms[GoalPart.INLINE]
    assert "the tail" in goal.messages


@given(st.text())
def test_any_text_is_a_goal(text: str) -> None:
    assert parse_goal(text).surface is not None


def test_what_is_said_around_a_question_is_no_part_of_it() -> None:
    said = parse_goal("Please explain what happens currently when a QuerySet is sliced across pages")
    assert set(said.terms[GoalPart.TITLE]) == {"queryset", "queri", "set", "slice", "page"}
    named = parse_goal("Explain `explain` and upon.within() of a queryset")
    assert {"explain", "within"} <= {*named.terms[GoalPart.TITLE], *named.terms[GoalPart.INLINE]}
