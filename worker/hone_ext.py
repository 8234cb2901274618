"""Compiles plain extern "C" C++ or CUDA source in seconds and calls it with tensors.

    import torch, hone_ext
    lib = hone_ext.cuda(r'''
    __global__ void scale(const float* x, float* y, float a, int64_t n) {
      int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
      if (i < n) y[i] = a * x[i];
    }
    extern "C" int run(const float* x, float* y, double a, int64_t n, cudaStream_t stream) {
      scale<<<(n + 255) / 256, 256, 0, stream>>>(x, y, (float)a, n);
      return cudaGetLastError();
    }''')
    lib.run(x, y, 2.0, x.numel())    # the current stream is added as the last argument

How arguments arrive: a tensor as the pointer to its first element (strides are the caller's business: pass them, or call
.contiguous()), int and bool as int64_t, float as double, None as a null pointer, a ctypes value as it is. In CUDA the stream
comes last. How results go back: `int` (or cudaError_t) is a status, and anything but 0 raises RuntimeError; `void` gives None;
int64_t, float and double give their value. C++ works the same through hone_ext.cpp, without the stream.

A library is kept under a hash of everything it is made of, in $HONE_EXT_CACHE, else $XDG_CACHE_HOME/hone_ext, else
~/.cache/hone_ext, else, where none of these can be written, in a temporary folder that goes with the process. The source is
one self-contained text: a change in a header that it includes is not noticed.
"""
import atexit
import ctypes
import functools
import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import tempfile

import torch

__all__ = ["CompileError", "cpp", "cuda"]

CPP_FLAGS = ("-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", "-std=c++17")
CUDA_FLAGS = ("-O3", "-std=c++17", "-shared", "-Xcompiler", "-fPIC")

# Appended to every CUDA source, so that a failed launch has an error message.
ERROR_STRING = """
extern "C" const char* hone_ext_error_string(int code) { return cudaGetErrorString((cudaError_t)code); }
"""


class CompileError(RuntimeError):
    """The source did not compile, or there is no compiler. str() is the compiler's full message."""


def cpp(source, flags=()):
    """The library of this C++ source. $CXX, g++ or clang++ compiles it; `flags` are added after the default ones."""
    flags = tuple(flags)
    compiler = _cpp_compiler(os.environ.get("CXX", ""))
    return _Library("cpp", source, flags, _build(compiler, source, CPP_FLAGS, flags, "source.cpp"))


def cuda(source, flags=()):
    """The library of this CUDA source. nvcc compiles it for the current GPU, or for the -arch in `flags`."""
    flags = tuple(flags)
    compiler = _cuda_compiler(os.environ.get("CUDACXX", ""))
    defaults = CUDA_FLAGS
    if not any(re.match(r"--?(arch|gencode|gpu-architecture|generate-code)\b", flag) for flag in flags):
        defaults += (_arch(),)
    return _Library("cuda", source, flags, _build(compiler, source + ERROR_STRING, defaults, flags, "source.cu"))


# Calling.


class _Library:
    """A loaded shared library; its extern "C" functions are attributes."""

    def __init__(self, kind, source, flags, path):
        self._remake = (kind, source, flags)
        self._code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.S)
        self._dll = ctypes.CDLL(path)
        self._error_string = None
        if kind == "cuda":
            self._error_string = self._dll.hone_ext_error_string
            self._error_string.restype = ctypes.c_char_p

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            symbol = self._dll[name]
        except AttributeError:
            raise AttributeError("the library has no function '%s'; is it declared extern \"C\"?" % name) from None
        function = _function(name, symbol, _signature(self._code, name), self._error_string)
        self.__dict__[name] = function  # caches it, so that the next lookup does not call this function
        return function

    def __reduce__(self):
        kind, source, flags = self._remake
        return (cuda if kind == "cuda" else cpp, (source, flags))


_STATUS_TYPES = {"int", "cudaError_t", "cudaError"}
_VALUE_TYPES = {
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "int64_t": ctypes.c_int64,
    "long": ctypes.c_int64,
    "size_t": ctypes.c_size_t,
    "bool": ctypes.c_bool,
}


def _signature(code, name):
    """(return type, parameter list) of a definition found in the source. A function hidden by a macro is assumed to return int."""
    found = re.search(r"(\w+)\s+%s\s*\(([^()]*)\)\s*(?:noexcept\s*)?\{" % re.escape(name), code)
    if not found:
        return "int", None
    parameters = [p.strip() for p in found.group(2).split(",") if p.strip() not in ("", "void")]
    for parameter in parameters:
        if re.search(r"\b(float|half|__half)\b", parameter) and not re.search(r"[*&]|\[", parameter):
            raise TypeError("%s: declare '%s' as double: Python floats are passed as double" % (name, parameter))
    return found.group(1), parameters


def _function(name, symbol, signature, error_string):
    """The Python callable for one C function. error_string is given only for CUDA. It is short, because every call pays for it."""
    return_type, parameters = signature
    is_status = return_type in _STATUS_TYPES
    is_cuda = error_string is not None
    symbol.restype = ctypes.c_int if is_status else _VALUE_TYPES.get(return_type)
    pointer = _cuda_pointer if is_cuda else _cpu_pointer
    doubles = [i for i, p in enumerate(parameters or ()) if re.search(r"\bdouble\b[^*]*$", p)]
    converters = {
        torch.Tensor: pointer,
        torch.nn.Parameter: pointer,
        int: ctypes.c_int64,
        bool: ctypes.c_int64,
        float: ctypes.c_double,
        type(None): ctypes.c_void_p,
    }

    def call(*args):
        values = []
        for arg in args:
            convert = converters.get(type(arg))
            values.append(convert(arg) if convert else _convert_rare(name, arg, pointer))
        if is_cuda:
            values.append(_current_stream())
        if parameters is not None and len(parameters) != len(values):
            hint = ", the stream included," if is_cuda else ""
            raise TypeError("%s takes %d arguments%s and got %d" % (name, len(parameters), hint, len(values)))
        for i in doubles:  # so that 2 works as 2.0
            if type(values[i]) is ctypes.c_int64:
                values[i] = ctypes.c_double(values[i].value)
        result = symbol(*values)
        if not is_status:
            return result
        if result != 0:
            meaning = ": " + error_string(result).decode() if is_cuda else ""
            raise RuntimeError("%s returned error %d%s" % (name, result, meaning))
        return None

    call.__name__ = name
    return call


def _cpu_pointer(tensor):
    if not tensor.is_cpu or tensor.layout is not torch.strided:
        raise _refusal(tensor, "a C++ function takes dense CPU tensors")
    return ctypes.c_void_p(tensor.data_ptr())


def _cuda_pointer(tensor):
    if not tensor.is_cuda or tensor.layout is not torch.strided:
        raise _refusal(tensor, "a CUDA function takes dense CUDA tensors")
    if tensor.get_device() != torch.cuda.current_device():
        raise _refusal(tensor, "the current device is cuda:%d" % torch.cuda.current_device())
    return ctypes.c_void_p(tensor.data_ptr())


def _refusal(tensor, why):
    return ValueError("a tensor of layout %s on %s was passed; %s" % (tensor.layout, tensor.device, why))


def _convert_rare(name, value, pointer):
    """Converts values that the table of exact types lacks: subclasses, numpy numbers, ctypes values."""
    if isinstance(value, torch.Tensor):
        return pointer(value)
    if isinstance(value, (ctypes._SimpleCData, ctypes._Pointer, ctypes.Array, ctypes.Structure)):
        return value
    if isinstance(value, float):
        return ctypes.c_double(value)
    if hasattr(value, "__index__"):
        return ctypes.c_int64(value.__index__())
    known = "tensors, int, float, bool, None and ctypes values can be"
    raise TypeError("%s: a %s cannot be passed; %s" % (name, type(value).__name__, known))


def _current_stream():
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # an order of magnitude cheaper than a Stream object
    if raw is not None:
        return ctypes.c_void_p(raw(torch.cuda.current_device()))
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


# Compiling.


def _build(compiler, source, defaults, flags, file_name):
    """The path of the shared library. Compiles it unless it exists. Two processes may do this at once."""
    parts = [source, _version(compiler), *compiler, *defaults, *flags]
    parts += [os.environ.get("NVCC_PREPEND_FLAGS", ""), os.environ.get("NVCC_APPEND_FLAGS", "")]
    if any("native" in flag for flag in defaults + flags):
        parts.append(_cpu())
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    for folder in (_preferred_folder(), _writable_folder()):
        path = os.path.join(folder, key + ".so")
        if os.path.isfile(path):
            return path
    work = tempfile.mkdtemp(prefix="build-", dir=folder)
    try:
        _compile(compiler, source, defaults, flags, work, file_name)
        os.replace(os.path.join(work, "library.so"), path)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return path


def _compile(compiler, source, defaults, flags, work, file_name):
    with open(os.path.join(work, file_name), "w", encoding="utf-8") as file:
        file.write(source)
    command = [*compiler, *defaults, file_name, *flags, "-o", "library.so"]
    done = subprocess.run(
        command,
        cwd=work,
        env=dict(os.environ, TMPDIR=work),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode != 0:
        message = done.stdout.decode("utf-8", "replace")
        raise CompileError("%s\nexit status %d\n%s" % (" ".join(map(shlex.quote, command)), done.returncode, message))


def _preferred_folder():
    own = os.environ.get("HONE_EXT_CACHE")
    if own:
        return os.path.abspath(own)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(os.path.abspath(cache), "hone_ext")


def _writable_folder():
    folder = _preferred_folder()
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return _temporary_folder()


@functools.lru_cache(maxsize=None)
def _temporary_folder():
    """A folder for this process only. In a shared folder, other users could place a library under a known name."""
    folder = tempfile.mkdtemp(prefix="hone_ext-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@functools.lru_cache(maxsize=None)
def _cpp_compiler(from_environment):
    if from_environment:
        return tuple(shlex.split(from_environment))
    for name in ("g++", "clang++"):
        if shutil.which(name):
            return (name,)
    raise CompileError("There is no C++ compiler: install g++ (Debian, Ubuntu: apt install g++) or set CXX to one.")


@functools.lru_cache(maxsize=None)
def _cuda_compiler(from_environment):
    if from_environment:
        return tuple(shlex.split(from_environment))
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    for name in ["nvcc"] + [os.path.join(home, "bin", "nvcc") for home in homes if home]:
        if shutil.which(name):
            return (name,)
    raise CompileError(
        "There is no CUDA compiler: install the CUDA toolkit (Ubuntu: apt install nvidia-cuda-toolkit, or NVIDIA's "
        "cuda-nvcc package) or set CUDACXX to an nvcc."
    )


@functools.lru_cache(maxsize=None)
def _version(compiler):
    try:
        done = subprocess.run([*compiler, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        raise CompileError("The compiler '%s' cannot be started: %s" % (" ".join(compiler), error)) from None
    return done.stdout.decode("utf-8", "replace")


@functools.lru_cache(maxsize=None)
def _arch():
    if not torch.cuda.is_available():
        raise CompileError("There is no GPU to compile for: name one in flags, as in flags=['-arch=sm_90a'].")
    major, minor = torch.cuda.get_device_capability()
    return "-arch=sm_%d%d%s" % (major, minor, "a" if (major, minor) in ((9, 0), (10, 0)) else "")


@functools.lru_cache(maxsize=None)
def _cpu():
    """The meaning of -march=native on this machine."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            wanted = re.compile(r"(model name|flags|CPU part|Features)\s*:")
            return "".join(sorted({line for line in file if wanted.match(line)}))
    except OSError:
        return platform.machine() + platform.processor()
