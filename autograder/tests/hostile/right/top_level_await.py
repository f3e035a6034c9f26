# Awaits at the top of the cell and leaves a task behind, as notebooks allow.
# cell: added
import asyncio

async def later():
    await asyncio.sleep(0.01)
    return 1

print(await later())
tasks = [asyncio.get_event_loop().create_task(asyncio.sleep(1000))]
