"""Runs an ADK agent from a file, once: ``python agent_host.py FILE PROMPT``; prints what it does.

The file defines ``root_agent``. Each tool call, each tool's answer and the final text is one line on stdout.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
import warnings
from pathlib import Path
from typing import Any

warnings.simplefilter("ignore")


def load(file: Path) -> Any:
    """Return the agent that a file defines."""
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location("my_agent", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.root_agent


async def converse(agent: Any, prompt: str) -> None:
    """Ask the agent once and print its events."""
    from google.adk.runners import InMemoryRunner  # noqa: PLC0415 - after the agent's own failures can be told
    from google.genai import types  # noqa: PLC0415 - as above

    runner = InMemoryRunner(agent=agent, app_name="candidate")
    session = await runner.session_service.create_session(app_name="candidate", user_id="user")
    message = types.Content(role="user", parts=[types.Part(text=prompt)])
    async for event in runner.run_async(user_id="user", session_id=session.id, new_message=message):
        for call in event.get_function_calls():
            print("call", call.name, json.dumps(call.args, sort_keys=True, default=str), flush=True)
        for answer in event.get_function_responses():
            print("answer", answer.name, json.dumps(answer.response, sort_keys=True, default=str), flush=True)
        if event.is_final_response() and event.content and event.content.parts:
            print("said", "".join(part.text or "" for part in event.content.parts), flush=True)


if __name__ == "__main__":
    asyncio.run(converse(load(Path(sys.argv[1]).resolve()), sys.argv[2]))
