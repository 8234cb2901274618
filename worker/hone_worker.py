"""Hone's worker: imports a task or a candidate, runs it on request, and returns raw bytes.

Started as `python hone_worker.py DESCRIPTOR ROLE DEVICE`. It makes no decisions: seeds, inputs, expected values, clock and verdict belong to the
parent. A candidate can overwrite all of this file in its own process. The parent is built so that this can change only the candidate's own verdict.
"""

import sys

if __name__ == "__main__" and sys.argv[2] == "nursery":
    import hone_join

    hone_join.start_from_read_only_mount()

import gc

gc.disable()  # torch's import creates only live objects, and scanning them takes a sixth of its time

import ctypes
import glob
import importlib.metadata
import importlib.util
import os
import random
import time
import traceback

import torch

import hone_clock
import hone_inputs
import hone_libraries
import hone_protocol
import hone_regions
import hone_settings
import hone_task
import hone_wire
from hone_wire import Wire, map_tensors, read_tree, tensors_of, write_tree

_M_PERTURB = -6
_POISON = 0x7F  # every byte of memory that was never written; the parent looks for it


def set_poison(on):
    """Makes glibc fill fresh memory with a known byte, so that a tensor that is never written is detected."""
    try:
        ctypes.CDLL(None).mallopt(_M_PERTURB, (_POISON ^ 0xFF) if on else 0)
    except (OSError, AttributeError):
        pass


def has_nvrtc():
    """Whether NVRTC, the CUDA compiler as a library, is installed. torch's wheels include it."""
    if glob.glob(os.path.join(os.path.dirname(os.path.dirname(torch.__file__)), "nvidia", "*", "lib", "libnvrtc.so*")):
        return True
    try:
        ctypes.CDLL("libnvrtc.so." + (torch.version.cuda or "").split(".")[0])
        return True
    except OSError:
        return bool(glob.glob(os.path.join(os.environ.get("CUDA_HOME") or "/usr/local/cuda", "lib64", "libnvrtc.so*")))


def load_file(path, name):
    """Imports one file. If it is part of a package, the package is imported too, so that relative imports work."""
    path = os.path.abspath(path)
    folder, package = os.path.dirname(path), []
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, part = os.path.split(folder)
        package.insert(0, part)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    if package:
        importlib.import_module(".".join(package))
        name = ".".join(package) + "." + os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _watched():
    """Functions that a candidate would replace only to deceive a timer or a comparison."""
    names = {
        time: ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time"),
        torch: ("allclose", "equal", "isclose"),
        torch.testing: ("assert_close",),
        torch.Tensor: ("cpu", "item", "__eq__", "allclose", "equal"),
        torch.cuda: ("synchronize", "Event", "Stream", "current_stream"),
        torch.cuda.Event: ("record", "elapsed_time", "synchronize", "query", "wait"),
        torch.cuda.Stream: ("synchronize", "query", "wait_stream"),
    }
    return {(owner, name): getattr(owner, name, None) for owner, attributes in names.items() for name in attributes}


def _storage(tensor):
    """The start address of a tensor's memory; 0 if it has no storage."""
    try:
        return tensor.untyped_storage().data_ptr() if tensor.numel() else 0
    except Exception:  # sparse, lazily initialised, a subclass without memory
        return 0


def _owners(inputs, model):
    """Returns a function that tells whether a tensor's memory belongs to an input or a parameter."""
    owners = {_storage(value): "parameter" for value in model.parameters()}
    owners.update((_storage(value), "input") for value in tensors_of(list(inputs)))
    owners.pop(0, None)
    return lambda tensor: owners.get(_storage(tensor))


class Worker(hone_inputs.Inputs):
    def __init__(self, role, device):
        self.role = role
        self.device = torch.device(device)
        super().__init__()
        self.models, self.snapshots, self.rungs, self.wide = {}, {}, {}, {}
        self.module = None
        self.source, self.beside = None, None  # for a task; a candidate has neither
        self.watched = _watched()
        self.synchronize = torch.cuda.synchronize if self.device.type == "cuda" else lambda: None
        self.settings_before = None  # process-wide settings before the candidate's file was imported
        self.facts = {}
        self.thread_count = 0  # set by the parent; 0: not yet
        self.held = hone_regions.Held()  # answers that wait for the parent's memory
        self.clock = hone_clock.Clock(self)
        self.verbs = {name: getattr(self, name) for name in hone_protocol.WORKER}
        self.verbs.update((name, getattr(self.clock, name)) for name in hone_protocol.CLOCK)

    def seed(self, seed):
        random.seed(seed)
        torch.manual_seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed % (1 << 32))

    # Set-up

    def hello(self, message, descriptors):
        """Facts about this machine. They were collected at the start, because initialising a GPU takes seconds."""
        if isinstance(self.facts, Exception):
            raise self.facts
        return {"facts": self.facts}

    def wake(self):
        """Initialises the device, which takes a while. The reference also collects facts about it."""
        try:
            torch.zeros(1, device=self.device)
            self._load_libraries()
            self.facts = self._facts() if self.role == "reference" else {}
        except Exception as error:
            self.facts = error

    def _load_libraries(self):
        """Loads cuBLAS and cuDNN, which takes a tenth of a second. It costs nothing here, because the parent is busy."""
        if self.device.type != "cuda":
            return
        try:
            image = torch.zeros(1, 1, 8, 8, device=self.device)
            torch.nn.functional.conv2d(image, image[..., :3, :3])
            torch.mm(image[0, 0], image[0, 0])
            self.synchronize()
        except Exception:  # code that needs them reports the error
            pass

    def _facts(self):
        facts = {
            "python": sys.version.split()[0], "torch": torch.__version__, "threads": torch.get_num_threads(),
            "has_compile": hasattr(torch, "compile"),
            "cuda_built": torch.version.cuda, "cuda_available": torch.cuda.is_available(), "device_name": "",
            "capabilities": torch.backends.cpu.get_cpu_capability() if hasattr(torch.backends, "cpu") else "",
        }
        try:
            facts["triton"] = importlib.metadata.version("triton")  # importing it takes half a second
        except importlib.metadata.PackageNotFoundError:
            facts["triton"] = ""
        if self.device.type == "cuda":
            properties = torch.cuda.get_device_properties(self.device)
            facts.update(
                device_name=properties.name, device_memory=properties.total_memory,
                capability="%d.%d" % (properties.major, properties.minor), sm=10 * properties.major + properties.minor,
                shared_memory_per_block=getattr(properties, "shared_memory_per_block_optin", 0), multiprocessors=properties.multi_processor_count,
                l2_bytes=getattr(properties, "L2_cache_size", 0), cudnn=str(torch.backends.cudnn.version()),
                matmul_tf32=torch.backends.cuda.matmul.allow_tf32, cudnn_tf32=torch.backends.cudnn.allow_tf32,
                nvrtc=has_nvrtc(),
            )
        return facts

    def threads(self, message, descriptors):
        self.thread_count = message["count"]
        torch.set_num_threads(message["count"])
        return {}

    def load(self, message, descriptors):
        if self.role == "reference":
            return self._load_task(message)
        import hone_contract

        self.settings_before = hone_contract.capture()
        set_poison(True)
        try:
            self.module = load_file(message["path"], message["name"])
        finally:
            set_poison(False)
        wanted = message["class"]
        return {
            "has_class": isinstance(getattr(self.module, wanted, None), type),
            "names": [name for name in vars(self.module) if not name.startswith("_")][:40],
        }

    def _load_task(self, message):
        self.source = hone_task.TaskSource(message["path"])
        arguments, sys.argv = sys.argv, [message["path"]]  # a task with a command line must not read the worker's arguments
        try:
            with hone_task.Beside(self.source) as beside:
                self.module = load_file(message["path"], message["name"])
        finally:
            sys.argv = arguments
        hone_task.check_module(self.source, self.module)
        self.beside = beside
        return {
            "variants": self._variant_names(),
            "has_stress": callable(getattr(self.module, "get_stress", None)),
        }

    def _init_inputs(self):
        get = getattr(self.module, "get_init_inputs", None)
        return get() if callable(get) else []

    def init_inputs(self, message, descriptors):
        """Writes the init inputs for the candidate. Values that cannot be written are taken from the task file by the candidate's worker."""
        values = self._init_inputs()
        hone_task.check_init_inputs(self.source, values)
        description = write_tree(list(values) if not isinstance(values, dict) else values, descriptors[0])
        return {"tree": description, "opaque": hone_wire.has_opaque(description)}

    def build(self, message, descriptors):
        slot = message["slot"]
        if message.get("init") is not None:
            arguments = read_tree(message["init"], descriptors[0], "cpu")
        elif message.get("init_file"):
            arguments = load_file(message["init_file"], "hone_init_inputs").get_init_inputs()
        else:
            arguments = self._init_inputs()
        set_poison(self.role == "candidate")
        try:
            self.seed(message["seed"])
            kind = getattr(self.module, message["class"])
            if self.source is not None:
                model = self._build_reference(kind, arguments)
            else:
                model = kind(**arguments) if isinstance(arguments, dict) else kind(*arguments)
            if not isinstance(model, torch.nn.Module):
                if not callable(model):
                    raise TypeError("%s is neither a torch.nn.Module nor callable" % message["class"])
                wrapper = torch.nn.Module()
                wrapper.forward = model
                model = wrapper
            model = model.to(self.device).eval()
        finally:
            set_poison(False)
        self.models[slot] = model
        self.wide.pop(slot, None)
        self.snapshots[slot] = None
        return {"beside": self.beside.found} if self.beside is not None else {}

    def _build_reference(self, kind, arguments):
        hone_task.check_constructor(self.source, kind, arguments)
        with self.beside:
            model = kind(**arguments) if isinstance(arguments, dict) else kind(*arguments)
        hone_task.check_model(self.source, model)
        return model

    def weights(self, message, descriptors):
        """The state dict by name, as bytes."""
        state = self.models[message["slot"]].state_dict()
        names = [name for name, value in state.items() if isinstance(value, torch.Tensor)]
        return {"names": names, "tree": write_tree([state[name] for name in names], descriptors[0])}

    def take_weights(self, message, descriptors):
        """Loads the reference's weights into the candidate by name and shape, or through load_reference."""
        model = self.models[message["slot"]]
        values = read_tree(message["tree"], descriptors[0], self.device)
        state = dict(zip(message["names"], values))
        if callable(getattr(model, "load_reference", None)):
            with torch.no_grad():
                model.load_reference(state)
            return {"how": "load_reference", "missing": [], "unexpected": []}
        own = model.state_dict()
        missing = [
            "%s %s" % (name, tuple(value.shape)) for name, value in state.items()
            if name not in own or tuple(own[name].shape) != tuple(value.shape)
        ]
        unexpected = ["%s %s" % (name, tuple(value.shape)) for name, value in own.items() if name not in state]
        with torch.no_grad():
            model.load_state_dict(
                {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}, strict=False
            )
        return {"how": "state_dict", "missing": missing, "unexpected": unexpected}

    def snapshot(self, message, descriptors):
        """Keeps the module's present state. Every compared call of this slot starts from it."""
        from hone_truth import Snapshot

        self.snapshots[message["slot"]] = Snapshot(self.models[message["slot"]])
        return {}

    def drop(self, message, descriptors):
        for slot in message.get("slots", ()):
            for table in (self.models, self.wide, self.snapshots, self.rungs):
                table.pop(slot, None)
        for name in message.get("inputs", ()):
            self.inputs.pop(name, None)
            self.placed.pop(name, None)
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        return {}

    # Answers that wait for memory

    def hold(self):
        """Keeps tensors. The parent learns their sizes now and requests the values (`fetch`) next."""
        self.held = hone_regions.Held()
        return self.held

    def fetch(self, message, descriptors):
        """Copies the kept tensors into memory that the parent has made for them."""
        region = hone_regions.open_region(message, descriptors[0])
        self.held.move_into(region)
        self.synchronize()
        region.release()
        if message.get("trim") and self.device.type == "cuda":
            torch.cuda.empty_cache()  # a float64 run leaves gigabytes in the allocator that the other process may need
        return {}

    # Stress

    def stress(self, message, descriptors):
        """Changes a slot's weights for a stress regime."""
        import hone_stress

        generator = torch.Generator().manual_seed(message["seed"])
        model = self.models[message["slot"]]
        if callable(getattr(self.module, "get_stress", None)):
            self.module.get_stress(message["regime"], model, self.inputs[message["inputs"]])
        else:
            hone_stress.change_model(message["regime"], model, generator, self.models.get("default"))
        self.wide.pop(message["slot"], None)
        return {}

    def mutants(self, message, descriptors):
        import hone_stress

        slot, inputs = message["slot"], self.inputs[message["inputs"]]
        defaults = hone_stress.defaults_of(self.models["default"]) if slot != "default" else {}
        reply = {"names": hone_stress.mutants(self.models[slot], inputs, defaults), "sensitivities": {}}
        if len(defaults) > message["gradient_from"]:
            self.restore(slot)
            self.seed(message["seed"])
            reply["sensitivities"] = hone_stress.sensitivities(
                self.models[slot], inputs, defaults, torch.Generator().manual_seed(message["seed"])
            )
        return reply

    def _mutated(self, name, model, inputs, seed):
        """The inputs of a mutant, and a context in which the model is that mutant."""
        import contextlib

        import hone_stress

        if not name:
            return inputs, contextlib.nullcontext()
        kind, _, parameter = name.partition(":")
        if parameter:
            defaults = hone_stress.defaults_of(self.models["default"])
            return inputs, hone_stress.mutated_parameter(parameter, model, defaults, kind == "another")
        own = self.inputs.get("default#1")
        # Mutants count arguments and `fixed` counts tensors. The two are equal if every argument is a tensor.
        plain = own is not None and all(isinstance(value, torch.Tensor) for value in own)
        fixed = self.fixed if plain and self.fixed else ()
        return hone_stress.mutate(name, inputs, torch.Generator().manual_seed(seed), own, fixed), contextlib.nullcontext()

    # Runs

    def restore(self, slot):
        if self.snapshots.get(slot) is not None:
            self.snapshots[slot].restore()

    def _poison_device(self, shapes):
        """Fills blocks of the caching allocator with the poison byte, because it reuses freed blocks with old results."""
        if self.device.type != "cuda":
            return
        blocks = [torch.full((max(1, size),), _POISON, dtype=torch.uint8, device=self.device) for size in shapes for _ in range(3)]
        del blocks
        self.synchronize()

    def _keep_busy(self):
        """Fills the device with other work, so that CTAs run in another order. The model's queued work waits until this work lets it run. An
        answer computed on its own stream is then not ready when the caller's stream reads it."""
        if self.device.type != "cuda":
            return
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            a = torch.randn(4096, 4096, device=self.device, dtype=torch.half)
            for _ in range(30):
                a = torch.mm(a, a).clamp_(-1, 1)

    def run(self, message, descriptors):
        """Makes one call. Writes the outputs and, if requested, the inputs after the call."""
        slot, originals = message["slot"], self.inputs[message["inputs"]]
        model, inputs = self.models[slot], self.inputs_of(message["inputs"], message.get("fresh"))
        inputs, mutated = self._mutated(message.get("mutant"), model, inputs, message["seed"])
        rung = self.rungs.get(slot, {}).get(message.get("rung", "eager"))
        self.restore(slot)
        if message.get("poison"):
            self._poison_device(message.get("output_bytes", []))
        if message.get("busy"):
            self._keep_busy()
        self.seed(message["seed"])
        set_poison(bool(message.get("poison")))
        started = time.perf_counter()
        try:
            with torch.no_grad(), mutated:
                for _ in range(message.get("earlier", 0)):
                    model(*self.inputs_of(message["inputs"], True))
                if rung is not None:
                    rung.enter()
                    try:
                        out = rung.call(*inputs)
                    finally:
                        rung.leave()
                else:
                    out = model(*inputs)
                    if self.source is not None:
                        hone_task.check_output(self.source, out)
                spent = time.perf_counter() - started
                # There is no synchronisation before the bytes are read: copying a plain tensor waits only for its own stream.
                candidates = self.role == "candidate"
                if message.get("want_inputs"):
                    out = inputs
                owner_of = _owners(inputs, model)
                if message.get("hold"):
                    tree = self.hold().add(out, plain_only=candidates, copy=candidates, owner_of=owner_of)
                else:
                    tree = write_tree(out, descriptors[0], plain_only=candidates, owner_of=owner_of)
        finally:
            set_poison(False)
        self.synchronize()
        reply = {"tree": tree, "compute_s": spent}
        if message.get("fresh"):
            pairs = zip(tensors_of(list(originals)), tensors_of(list(inputs)))
            reply["inputs_changed"] = not all(before.equal(after) for before, after in pairs)
            self.writes_inputs = self.writes_inputs or reply["inputs_changed"]
            if reply["inputs_changed"] and self.source is not None:
                hone_task.check_written(self.source, originals)
        if message["inputs"] in self.placed:
            self.placed[message["inputs"]].write_back()
        if len(descriptors) > 1:
            reply["inputs_after"] = write_tree(inputs, descriptors[1])
        return reply

    def truth(self, message, descriptors):
        from hone_truth import jittered, run_wide, wide_model

        slot = message["slot"]
        self.restore(slot)
        wide = self.wide.get(slot)
        if wide is None or self.snapshots.get(slot) is not None:
            wide = wide_model(self.models[slot])
        if message["keep"]:
            self.wide[slot] = wide
        inputs, mutated = self._mutated(message.get("mutant"), wide, self.inputs_of(message["inputs"]), message["seed"])
        generator = None
        if message.get("jitter"):
            generator = torch.Generator().manual_seed(message.get("jitter_seed", 0))
            inputs = jittered(inputs, message["jitter"], generator)
        started = time.perf_counter()
        with torch.no_grad(), mutated:
            out = run_wide(wide, inputs, lambda: self.seed(message["seed"]), message.get("earlier", 0), generator)
        self.synchronize()
        spent = time.perf_counter() - started
        return {"tree": self.hold().add(out) if message.get("hold") else write_tree(out, descriptors[0]), "compute_s": spent}

    # Timing

    def rung(self, message, descriptors):
        """Prepares one baseline for a slot."""
        from hone_rungs import RUNGS

        slot = message["slot"]
        self.rungs.setdefault(slot, {})[message["rung"]] = RUNGS[message["rung"]](self.models[slot], self.inputs_of(message["inputs"]))
        self.synchronize()
        return {}

    # Facts

    def card(self, message, descriptors):
        import hone_card

        return {"card": hone_card.card(self.models[message["slot"]], self.inputs_of(message["inputs"]))}

    def graph(self, message, descriptors):
        """The task as a graph, compared with the module if there is enough memory."""
        import hone_graph

        def draw(index):
            made = self.draw_inputs((message["seed"] + index) % (1 << 63), slot=message["slot"])
            return map_tensors(made, lambda t: t.to(self.device))

        self.restore(message["slot"])
        try:
            return {"graph": hone_graph.checked(self.models[message["slot"]], draw, lambda: self.seed(message["seed"]), message["limit_bytes"])}
        except hone_graph.Declined as declined:
            return {"declined": str(declined)}
        finally:
            self.restore(message["slot"])

    def profile(self, message, descriptors):
        import hone_card

        own = []
        if self.role == "candidate":
            for value in vars(self.module).values():
                function = getattr(value, "fn", None)
                while function is not None and hasattr(function, "fn"):
                    function = function.fn
                if callable(function):
                    own.append(getattr(function, "__name__", ""))
        return hone_card.profile(self.models[message["slot"]], self.inputs_of(message["inputs"]), self.device, own)

    def ceilings(self, message, descriptors):
        import hone_card

        return {"rates": hone_card.ceilings(self.device)}

    def tampering(self, message, descriptors):
        changed = [
            "%s.%s" % (getattr(owner, "__name__", owner), name)
            for (owner, name), original in self.watched.items()
            if getattr(owner, name, None) is not original
        ]
        return {"changed": changed, "libraries": hone_libraries.imported()}

    def contract(self, message, descriptors):
        """Runs one step of the contract for later use."""
        import hone_contract

        return hone_contract.Contract(self).answer(message, descriptors)

    def canary(self, message, descriptors):
        a = torch.ones(64, 64, device=self.device)
        return {"right": float(torch.mm(a, a).sum()) == 64.0 ** 3}


def describe(error):
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return {"type": type(error).__name__, "message": str(error)[:20000], "traceback": text[-20000:]}


def answer(worker, message, descriptors):
    """Executes one message. Every exception from the code of a task or a candidate becomes a reply."""
    try:
        hone_protocol.check(message)
    except hone_protocol.ProtocolError as error:
        return {"ok": False, "error": describe(error)}
    verb = message["verb"]
    try:
        started = time.perf_counter()
        reply = worker.verbs[verb](message, descriptors)
        if verb in ("hello", "load", "build", "card", "graph", "profile", "rung", "ceilings"):
            reply["compute_s"] = time.perf_counter() - started
        reply["ok"] = True
        return reply
    except hone_wire.Unreadable as error:
        return {"ok": False, "unreadable": str(error)}
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        return {"ok": False, "error": describe(hone_task.explain(worker.source, verb, error))}


def die_with_parent():
    try:
        ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
    except (OSError, AttributeError):
        pass


def serve(descriptor, role, device):
    """One worker, from its first message to the last."""
    die_with_parent()
    wire = Wire(descriptor)
    worker = Worker(role, device)
    worker.wake()
    wire.send({"ready": True})
    while True:
        message, descriptors = wire.receive()
        if message is None:
            os._exit(0)
        reply = answer(worker, message, descriptors)
        for number in descriptors:
            os.close(number)
        wire.send(reply)


def reap(ended):
    """Collects workers that have ended. No other process waits for them, and each would stay in the process table."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            ended[pid] = status
    except ChildProcessError:
        pass


def status_of(pid, ended):
    """How a forked worker ended. It may need a moment to end after its channel has closed."""
    until = time.monotonic() + 2
    while pid not in ended and time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            ended[pid] = status
        else:
            time.sleep(0.01)
    if pid not in ended:
        return {"running": True}
    status = ended[pid]
    return {"signal": os.WTERMSIG(status)} if os.WIFSIGNALED(status) else {"code": os.WEXITSTATUS(status)}


def nursery(descriptor):
    """The nursery has imported torch outside of any sandbox and runs no foreign code. On each request of the parent, a fork of it enters a
    sandbox. This function returns only there."""
    import hone_join

    control = Wire(descriptor)
    while True:
        message, descriptors = control.receive()
        if message is None:
            os._exit(0)
        hone_protocol.check(message)
        if hone_join.place(message, descriptors):
            control.detach()  # the descriptor now belongs to the new process's channel
            return
        for number in descriptors:
            os.close(number)


def zygote(descriptor, role, device):
    """Forks a worker on each request of the parent. It has imported torch and perhaps some of hone_libraries, and uses no device and no foreign
    code."""
    control = Wire(descriptor)
    forks, ended = [], {}
    while True:
        message, descriptors = control.receive()
        if message is None:
            os._exit(0)
        hone_protocol.check(message)
        reap(ended)
        if message["verb"] == "fork":
            pid = os.fork()
            if pid == 0:
                control.close()
                serve(descriptors[0], role, device)
            forks.append(pid)
            ended.pop(pid, None)  # a process id that was used before
            os.close(descriptors[0])
        elif message["verb"] == "import":
            hone_libraries.import_libraries(message["libraries"], device)
        else:
            control.send(status_of(forks[message["fork"]], ended))


def main():
    descriptor, role, device = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    die_with_parent()
    hone_settings.settle_allocator()
    gc.freeze()  # excludes imported objects from collection, so that workers share their memory
    gc.enable()
    if role == "nursery":
        nursery(descriptor)
        role = "candidate"
        sys.argv[2] = role
    zygote(descriptor, role, device)


if __name__ == "__main__":
    main()
