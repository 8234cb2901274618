"""The worker's side of device_probe.cpp: maps received memory, computes with torch, and reports how long
mapping took.

Usage: device_worker.py WORKER_FOLDER DESCRIPTOR"""

import sys
import time

sys.path.insert(0, sys.argv[1])
import torch  # noqa: E402

import hone_device  # noqa: E402
import hone_wire  # noqa: E402

wire = hone_wire.Wire(int(sys.argv[2]))
torch.zeros(1, device="cuda").add_(1)
torch.cuda.synchronize()
memories = {}


def answer(message, descriptors):
    verb = message["verb"]
    if verb == "map":
        start = time.perf_counter()
        memory = hone_device.DeviceMemory(descriptors[0], message["size"], writable=message["writable"])
        mapped = time.perf_counter()
        tensor = memory.tensor(0, [message["size"]], torch.uint8)
        memories[message["name"]] = memory
        done = time.perf_counter()
        return {"map_ms": 1e3 * (mapped - start), "tensor_ms": 1e3 * (done - mapped), "device": str(tensor.device)}
    if verb == "double":  # y = 2 x + 1, elementwise, in every requested dtype
        for leaf in message["leaves"]:
            dtype = hone_wire.DTYPES[leaf["dtype"]]
            x = memories["input"].tensor(leaf["offset"], leaf["shape"], dtype)
            y = memories["answer"].tensor(leaf["offset"], leaf["shape"], dtype)
            y.copy_(x * 2 + 1)
        torch.cuda.synchronize()
        return {}
    if verb == "matmul":
        rows = message["rows"]
        x = memories["input"].tensor(0, [rows, rows], torch.float32)
        memories["answer"].tensor(0, [rows, rows], torch.float32).copy_(x @ x)
        truth = memories["truth"].tensor(0, [rows, rows], torch.float64)
        torch.matmul(x.double(), x.double(), out=truth)
        torch.cuda.synchronize()
        return {}
    if verb == "fill":
        memories[message["name"]].tensor(0, [message["bytes"] // 4], torch.int32).fill_(message["value"])
        torch.cuda.synchronize()
        return {}
    if verb == "bandwidth":
        size = message["bytes"] // 4
        x = memories["input"].tensor(0, [size], torch.float32)
        y = memories["answer"].tensor(0, [size], torch.float32)
        own = torch.empty(size, dtype=torch.float32, device="cuda")
        times = {}
        for name, to, source in (("shared_to_shared", y, x), ("own_to_shared", y, own), ("shared_to_own", own, x)):
            best = 1e9
            for _ in range(5):
                start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                start.record()
                to.copy_(source)
                end.record()
                torch.cuda.synchronize()
                best = min(best, start.elapsed_time(end))
            times[name] = 2 * message["bytes"] / best / 1e9
        return times
    if verb == "release":
        start = time.perf_counter()
        memories.pop(message["name"]).release()
        return {"release_ms": 1e3 * (time.perf_counter() - start)}
    if verb == "write":  # through a read-only mapping, so the device faults
        try:
            memories[message["name"]].tensor(0, [1024], torch.int32).fill_(1)
            torch.cuda.synchronize()
        except Exception as error:
            return {"refused": str(error).splitlines()[0]}
        return {"refused": ""}
    raise ValueError(verb)


wire.send({"torch": torch.__version__})
while True:
    request, received = wire.receive()
    if request is None:
        break
    try:
        reply = answer(request, received)
    except Exception as error:
        reply = {"error": "%s: %s" % (type(error).__name__, error)}
    wire.send(reply)
