"""The official client of the Model Context Protocol, against our server.

Usage: mcp_client.py MODE http URL | mcp_client.py MODE stdio DATA COMMAND [ARGUMENT]...

MODE is `legacy` (an `initialize` handshake) or `auto` (`server/discover`, then requests that are complete in themselves).
It calls what the server offers, with the checks that the client itself makes (of output schemas for one), and prints as
JSON what a test looks at.
"""

import asyncio
import json
import sys

from mcp import StdioServerParameters
from mcp.client import Client


async def main(mode, server):
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        seen = {
            "version": client.protocol_version,
            "instructions": client.instructions,
            "tools": [tool.name for tool in tools],
        }
        if "status" in seen["tools"]:
            # The index is made while the server answers.
            while True:
                status = (await client.call_tool("status", {"format": "structured"})).structured_content
                seen.setdefault("indexing", []).append(status["indexing"])
                if not status["indexing"].startswith("indexing "):
                    break
                await asyncio.sleep(0.05)
        structured = {"format": "structured"} if "status" in seen["tools"] else {}
        search = await client.call_tool("search", {"query": "When does the ferry leave?"} | structured)
        seen["search"] = search.structured_content or json.loads(search.content[0].text)
        result = seen["search"]["results"][0]
        fetch = await client.call_tool("fetch", {"id": result["id"]} | structured)
        seen["fetch"] = fetch.structured_content or json.loads(fetch.content[0].text)
        failed = await client.call_tool("fetch", {"id": "none.md"})
        seen["failed"] = [failed.is_error, failed.content[0].text]
        wrong = await client.call_tool("search", {"qury": "ferry"})
        seen["wrong"] = [wrong.is_error, wrong.content[0].text]
        if "outline" in seen["tools"]:
            outline = await client.call_tool("outline", {"id": result["doc_id"]} | structured)
            seen["outline"] = outline.structured_content
            text = await client.call_tool("search", {"query": "ferry"})
            assert text.structured_content is None
            seen["text"] = text.content[0].text
            resources = (await client.list_resources()).resources
            seen["resources"] = [str(resource.uri) for resource in resources]
            read = await client.read_resource(resources[0].uri)
            seen["read"] = read.contents[0].text
            templates = await client.list_resource_templates()
            seen["templates"] = [template.uri_template for template in templates.resource_templates]
            seen["prompts"] = [prompt.name for prompt in (await client.list_prompts()).prompts]
            prompt = await client.get_prompt("answer", {"question": "When?"})
            seen["prompt"] = [message.content.text for message in prompt.messages]
        print(json.dumps(seen))


if __name__ == "__main__":
    mode, transport, *rest = sys.argv[1:]
    if transport == "http":
        server = rest[0]
    else:
        data, command, *arguments = rest
        server = StdioServerParameters(command=command, args=arguments, env={"XDG_DATA_HOME": data})
    asyncio.run(main(mode, server))
