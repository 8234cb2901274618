// Checks and measures the GPU half of the data plane on a real GPU. Exits with 77 without one.
//
//   hone_device_probe check                  compares kernels with their host versions: every dtype, > 2^31
//   hone_device_probe share LEVEL SCRIPT     a Python worker in a sandbox maps, computes and releases memory
//   hone_device_probe bench [PTX...]         rates of copy, digest and comparison, also for other PTX
#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/median.h"
#include "evaluation/device_plane.h"
#include "evaluation/worker.h"
#include "process/channel.h"
#include "process/python.h"
#include "process/sandbox.h"
#include "process/sandbox_exec.h"

namespace hone {
namespace {

constexpr int kSkipped = 77;
int failures = 0;

void Expect(bool ok, const std::string& what) {
  if (ok) return;
  ++failures;
  if (failures <= 40) fmt::print("FAILED: {}\n", what);
}

template <class T>
T Must(Result<T> result, const std::string& what) {
  if (!result.ok()) {
    fmt::print("FAILED: {}: {}\n", what, result.error().message);
    std::fflush(stdout);
    std::_Exit(1);
  }
  return std::move(*result);
}

std::unique_ptr<DevicePlane> OpenOrSkip() {
  const Stopwatch watch;
  auto plane = DevicePlane::Open(0);
  if (!plane.ok() && plane.error().kind == ErrorKind::kUnavailable) {
    fmt::print("skipped: {}\n", plane.error().message);
    std::exit(kSkipped);
  }
  auto opened = Must(std::move(plane), "open the device");
  fmt::print("{}: opened in {:.0f} ms\n", opened->name(), 1e3 * watch.seconds());
  return opened;
}

constexpr Dtype kAllDtypes[] = {Dtype::kF16, Dtype::kBf16, Dtype::kF32, Dtype::kF64,
                                Dtype::kC64, Dtype::kC128, Dtype::kU8,  Dtype::kI8,
                                Dtype::kI16, Dtype::kI32,  Dtype::kI64, Dtype::kBool};

std::vector<std::byte> RandomBytes(size_t count, uint64_t seed) {
  std::vector<std::byte> bytes(count + 8);
  for (size_t at = 0; at < count; at += 8) {
    const uint64_t word = kernels::Mix64(seed + at);
    std::memcpy(bytes.data() + at, &word, 8);
  }
  bytes.resize(count);
  return bytes;
}

template <class T>
bool SameBits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

bool SameSums(const ComparedSums& a, const ComparedSums& b) {
  const kernels::ComparePartial &x = a.partial, &y = b.partial;
  const auto same = [](double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); };
  return same(a.largest, b.largest) && a.numbers == b.numbers &&
         same(x.difference_squared, y.difference_squared) && same(x.truth_squared, y.truth_squared) &&
         same(x.worst, y.worst) && x.worst_at == y.worst_at && x.non_finite == y.non_finite &&
         x.first_non_finite == y.first_non_finite && x.poisoned == y.poisoned && x.differing == y.differing;
}

bool SameDigest(const Digest& a, const Digest& b) {
  return a.hash == b.hash && a.projections == b.projections && a.squares == b.squares &&
         a.non_finite == b.non_finite && a.non_finite_places == b.non_finite_places;
}

// Values without extremes, so that sums are finite and every bit affects them.
void FillMildly(Dtype dtype, std::vector<std::byte>* bytes, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> draw;
  const auto put = [&](size_t at, auto value) { std::memcpy(bytes->data() + at, &value, sizeof value); };
  for (size_t at = 0; at + DtypeSize(dtype) <= bytes->size();) {
    const float value = draw(generator);
    const uint32_t bits = kernels::BitCast<uint32_t>(value);
    switch (dtype) {
      case Dtype::kF64:
      case Dtype::kC128:
        put(at, static_cast<double>(value) * 1.000000001);
        at += 8;
        break;
      case Dtype::kF32:
      case Dtype::kC64:
        put(at, value);
        at += 4;
        break;
      case Dtype::kBf16:
        put(at, static_cast<uint16_t>(bits >> 16));
        at += 2;
        break;
      default:  // float16: any sign and mantissa, exponents around 1
        put(at, static_cast<uint16_t>((bits >> 16 & 0x83FF) | (13 + bits % 5) << 10));
        at += 2;
    }
  }
}

void CheckKernels(DevicePlane& plane) {
  int compared = 0;
  for (const Dtype dtype : kAllDtypes) {
    for (const size_t elements : {1, 2, 3, 31, 255, 511, 2047, 2048, 2049, 4097, 65537, 1000003}) {
      const std::string what = fmt::format("{} x {}", DtypeName(dtype), elements);
      const size_t size = elements * DtypeSize(dtype);
      const Dtype wide = dtype == Dtype::kC64 || dtype == Dtype::kC128 ? Dtype::kC128 : Dtype::kF64;
      for (const bool wild : {true, false}) {
        if (!wild && !IsFloating(dtype)) continue;
        std::vector<std::byte> got = RandomBytes(size, 1), truth = RandomBytes(size, 2);
        std::vector<std::byte> exact = RandomBytes(elements * DtypeSize(wide), 3);
        if (!wild) {
          FillMildly(dtype, &got, 4);
          FillMildly(dtype, &truth, 5);
          FillMildly(wide, &exact, 6);
        }
        for (size_t at = 3; (at + 1) * DtypeSize(dtype) <= size; at += 701)
          if (wild) std::memset(got.data() + at * DtypeSize(dtype), kPoisonByte, DtypeSize(dtype));
        DeviceBuffer a = Must(plane.Allocate(got.size(), true), what);
        DeviceBuffer b = Must(plane.Allocate(truth.size(), false), what);
        DeviceBuffer c = Must(plane.Allocate(exact.size(), false), what);
        // Bytes after the data must not matter.
        Must(plane.Fill({a.span().address, a.mapped_bytes()}, 0xFF), what);
        Must(plane.Fill({b.span().address, b.mapped_bytes()}, 0x33), what);
        Must(plane.Upload(a.span(), got), what);
        Must(plane.Upload(b.span(), truth), what);
        Must(plane.Upload(c.span(), exact), what);
        const ComparedSums same = Must(plane.CompareSums(dtype, a.span(), dtype, b.span()), what);
        Expect(SameSums(same, CompareOnHost(dtype, got, dtype, truth)), what + " with its own dtype");
        const ComparedSums with_wide = Must(plane.CompareSums(dtype, a.span(), wide, c.span()), what);
        Expect(SameSums(with_wide, CompareOnHost(dtype, got, wide, exact)), what + " with float64");
        const Distance distance = Must(plane.Compare(dtype, a.span(), wide, c.span()), what);
        const Distance expected = Compare(dtype, got, wide, exact);
        Expect(distance.worst_at == expected.worst_at && distance.non_finite == expected.non_finite &&
                   distance.poisoned == expected.poisoned && distance.elements == expected.elements,
               what + ": counts differ from Compare on the host");
        Expect(!std::isfinite(expected.relative) ||
                   std::abs(distance.relative - expected.relative) <= 1e-12 * expected.relative,
               what + ": norm differs from Compare on the host");
        const Digest digest = Must(plane.DigestOf(dtype, a.span(), 77), what);
        const Digest on_host = DigestOf(dtype, got, 77);
        Expect(digest.hash == on_host.hash, what + ": hash");
        Expect(SameDigest(digest, on_host) || !std::isfinite(on_host.squares), what + ": projections");
        Expect(SameDigest(digest, Must(plane.DigestOf(dtype, a.span(), 77), what)) ||
                   !std::isfinite(on_host.squares),
               what + ": a digest must repeat");
        Expect(Must(plane.Equal(a.span(), a.span()), what), what + ": equal");
        Expect(!Must(plane.Equal(a.span(), b.span()), what) || got == truth, what + ": not equal");
        ++compared;
      }
    }
  }
  fmt::print("{} comparisons and digests against the host\n", compared);
}

// Compares scales of rows and channels with the host's.
void CheckShaped(DevicePlane& plane) {
  const std::vector<int64_t> shapes[] = {{1},         {40},          {16, 16},    {5, 1000},
                                         {1000, 5},   {100000, 16},  {300, 17},   {33, 100},
                                         {4, 20, 50}, {2, 3, 7, 9},  {2000003},   {3, 2, 9001},
                                         {64, 40, 3}, {7000, 2, 16}, {2, 400000}, {8, 64, 33, 31}};
  int compared = 0;
  for (const std::vector<int64_t>& shape : shapes)
    for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBf16, Dtype::kF64, Dtype::kC64}) {
      const std::string what = fmt::format("{} {}", DtypeName(dtype), ShapeText(shape));
      size_t elements = 1;
      for (const int64_t extent : shape) elements *= static_cast<size_t>(extent);
      const Dtype wide = dtype == Dtype::kC64 ? Dtype::kC128 : Dtype::kF64;
      std::vector<std::byte> got(elements * DtypeSize(dtype)), truth(elements * DtypeSize(wide));
      FillMildly(dtype, &got, 11);
      FillMildly(wide, &truth, 12);
      const double mask = -1e9;
      for (size_t at = 24; at + 8 <= truth.size() && elements > 100; at += 88)
        std::memcpy(truth.data() + at, &mask, 8);
      DeviceBuffer a = Must(plane.Allocate(got.size(), true), what);
      DeviceBuffer b = Must(plane.Allocate(truth.size(), false), what);
      Must(plane.Upload(a.span(), got), what);
      Must(plane.Upload(b.span(), truth), what);
      const TruthScales scales = Must(plane.PrepareScales(dtype, wide, b.span(), shape), what);
      const HostScales on_host = ScalesOnHost(dtype, wide, truth, shape);
      Expect(scales.giant == on_host.giant, what + ": giants");
      const auto read = [&](cuda::Address from, size_t count) {
        std::vector<double> values(count);
        if (count > 0)
          Must(plane.Download(std::as_writable_bytes(std::span(values)), {from, 8 * count}), what);
        return values;
      };
      Expect(read(scales.typical, 1)[0] == on_host.typical, what + ": typical");
      Expect(read(scales.rows, on_host.rows.size()) == on_host.rows, what + ": rows");
      Expect(read(scales.channels, on_host.channels.size()) == on_host.channels, what + ": channels");
      const ComparedSums sums =
          Must(plane.CompareSums(dtype, a.span(), wide, b.span(), {&scales, 1, 1e-3}), what);
      Expect(SameSums(sums, CompareOnHost(dtype, got, wide, truth, {&on_host, 1, 1e-3})), what + ": shaped");
      Expect(sums.partial.scaled > 0 || elements == 1, what + ": scaled");
      ++compared;
    }
  fmt::print("{} shaped comparisons against the host\n", compared);
}

void CheckLarge(DevicePlane& plane) {
  const size_t bytes = 5'000'000'006;  // not a multiple of 16; 2.5e9 elements of two bytes
  DeviceBuffer got = Must(plane.Allocate(bytes, true), "5 GB");
  DeviceBuffer truth = Must(plane.Allocate(bytes, false), "5 GB");
  Must(plane.Fill(got.span(), 0x3C), "fill");
  Must(plane.Fill(truth.span(), 0x3C), "fill");
  Expect(Must(plane.Equal(got.span(), truth.span()), "equal"), "5 GB are equal");
  const Digest plain = Must(plane.DigestOf(Dtype::kF16, got.span(), 5), "digest");
  Expect(SameDigest(plain, Must(plane.DigestOf(Dtype::kF16, truth.span(), 5), "digest")), "equal digests");
  const double value = ElementAt(Dtype::kF16, std::vector<std::byte>(2, std::byte{0x3C}), 0);
  const double squares = value * value * static_cast<double>(bytes / 2);
  Expect(std::abs(plain.squares - squares) < 1e-9 * squares, "sum of squares of 2.5e9 numbers");
  Distance distance = Must(plane.Compare(Dtype::kF16, got.span(), Dtype::kF16, truth.span()), "compare");
  Expect(distance.relative == 0 && distance.elements == bytes / 2, "2.5e9 equal elements");
  for (const size_t element : {bytes / 2 - 1, size_t{2'147'483'648}, size_t{2'400'000'001}}) {
    const uint16_t one = 0x3F00;
    Must(plane.Upload(got.span().Part(2 * element, 2), std::as_bytes(std::span(&one, 1))), "one element");
    distance = Must(plane.Compare(Dtype::kF16, got.span(), Dtype::kF16, truth.span()), "compare");
    Expect(distance.worst_at == element && distance.relative > 0, fmt::format("element {}", element));
    Expect(!Must(plane.Equal(got.span(), truth.span()), "equal"), fmt::format("element {} differs", element));
    Expect(!SameBytes(Must(plane.DigestOf(Dtype::kF16, got.span(), 5), "digest"), plain),
           fmt::format("the digest sees element {}", element));
    Must(plane.Copy(got.span().Part(0, bytes), truth.span()), "copy");
  }
  Must(plane.Fill(got.span().Part(4'999'999'000, 1006), kPoisonByte), "poison");
  distance = Must(plane.Compare(Dtype::kF16, got.span(), Dtype::kF16, truth.span()), "compare");
  Expect(distance.poisoned == 503 && distance.non_finite == 503, "poison at the end");
  fmt::print("2.5e9 elements compared\n");
}

int Check() {
  auto plane = OpenOrSkip();
  CheckKernels(*plane);
  CheckShaped(*plane);
  const MemoryInfo before = Must(plane->Memory(), "memory");
  if (before.free_bytes > (16ULL << 30))
    CheckLarge(*plane);
  else
    fmt::print("too little memory for 2.5e9 elements\n");
  const MemoryInfo after = Must(plane->Memory(), "memory");
  Expect(after.free_bytes == before.free_bytes,
         fmt::format("{} bytes of device memory are gone", before.free_bytes - after.free_bytes));
  Expect(!plane->Allocate(before.total_bytes * 2, false).ok(), "more than the device has");
  fmt::print("check: {} failures\n", failures);
  return failures == 0 ? 0 : 1;
}

// A worker with its channel.
struct Peer {
  SandboxedChild started;
  Channel channel;

  Json Ask(Json message, const std::vector<int>& descriptors = {}) {
    Must(channel.Send(message, descriptors), "send");
    return Read(GetString(message, "verb"));
  }
  Json Read(const std::string& verb) {
    Result<Message> reply = channel.Receive(Deadline::After(60));
    if (!reply.ok())
      fmt::print("worker: {}\n{}\n{}\n", reply.error().message, started.child->out(), started.child->err());
    Json body = Must(std::move(reply), verb).body;
    Expect(!body.contains("error"), verb + ": " + GetString(body, "error"));
    return body;
  }
  // Makes the worker map a buffer of the parent under a name.
  Json Map(const std::string& name, const DeviceBuffer& buffer, bool writable) {
    const UniqueFd descriptor = Must(buffer.Export(), "export");
    return Ask({{"verb", "map"}, {"name", name}, {"size", buffer.mapped_bytes()}, {"writable", writable}},
               {descriptor.get()});
  }
};

Result<Peer> StartWorker(SandboxLevel level, const fs::path& script, const fs::path& private_folder) {
  HONE_ASSIGN_OR_RETURN(const PythonInfo python, FindPython(""));
  HONE_ASSIGN_OR_RETURN(const fs::path folder, WorkerFolder());
  HONE_ASSIGN_OR_RETURN(Channel::Pair pair, Channel::MakePair());
  ChildSpec spec;
  spec.argv = {python.program.string(), "-u", script.string(), folder.string(), "3"};
  spec.env = CandidateEnvironment(private_folder);
  SetVariable(spec.env, "PYTHONDONTWRITEBYTECODE", "1");
  spec.folder = private_folder;
  spec.descriptors = {{pair.theirs.get(), 3}};
  SandboxPolicy policy;
  policy.readable = python.read_paths;
  policy.readable.push_back(folder);
  policy.readable.push_back(script.parent_path());
  policy.private_folder = private_folder;
  policy.gpu = true;
  Peer peer;
  HONE_ASSIGN_OR_RETURN(peer.started, SpawnSandboxed(spec, policy, level));
  peer.channel = std::move(pair.ours);
  return peer;
}

void ShareValues(DevicePlane& plane, Peer& peer) {
  const size_t bytes = 64 << 20;
  DeviceBuffer input = Must(plane.Allocate(bytes, true), "input");
  DeviceBuffer answer = Must(plane.Allocate(bytes, true), "answer");
  DeviceBuffer truth = Must(plane.Allocate(2 * bytes, true), "truth");
  peer.Map("input", input, true);
  peer.Map("answer", answer, true);
  peer.Map("truth", truth, true);
  // y = 2 x + 1 in several dtypes, each in its own part of the buffers.
  const Dtype dtypes[] = {Dtype::kF32, Dtype::kF64, Dtype::kF16, Dtype::kBf16,
                          Dtype::kI32, Dtype::kI64, Dtype::kC64};
  const size_t part = 1 << 20;
  Json leaves = Json::array();
  std::vector<std::byte> values(part * std::size(dtypes));
  std::vector<std::byte> expected(values.size());
  for (size_t d = 0; d < std::size(dtypes); ++d) {
    const size_t elements = 1001;
    leaves.push_back({{"dtype", DtypeName(dtypes[d])}, {"offset", d * part}, {"shape", {7, 143}}});
    for (size_t i = 0; i < elements; ++i) {
      const int x = static_cast<int>(i % 100);  // every dtype represents 2 x + 1 exactly
      const auto put = [&](auto in, auto out) {
        std::memcpy(values.data() + d * part + i * sizeof in, &in, sizeof in);
        std::memcpy(expected.data() + d * part + i * sizeof out, &out, sizeof out);
      };
      const auto half = [](int number) {
        const uint32_t bits = kernels::BitCast<uint32_t>(static_cast<float>(number));
        return static_cast<uint16_t>(number == 0 ? 0 : (bits >> 13) - (112 << 10));
      };
      const auto brain = [](int number) {
        return static_cast<uint16_t>(kernels::BitCast<uint32_t>(static_cast<float>(number)) >> 16);
      };
      switch (dtypes[d]) {
        case Dtype::kF32:
          put(static_cast<float>(x), static_cast<float>(2 * x + 1));
          break;
        case Dtype::kF64:
          put(static_cast<double>(x), static_cast<double>(2 * x + 1));
          break;
        case Dtype::kF16:
          put(half(x), half(2 * x + 1));
          break;
        case Dtype::kBf16:
          put(brain(x), brain(2 * x + 1));
          break;
        case Dtype::kI32:
          put(x, 2 * x + 1);
          break;
        case Dtype::kI64:
          put(static_cast<int64_t>(x), static_cast<int64_t>(2 * x + 1));
          break;
        default: {
          const std::array<float, 2> in = {static_cast<float>(x), 3},
                                     out = {static_cast<float>(2 * x + 1), 6};
          put(in, out);
        }
      }
    }
  }
  Must(plane.Upload(input.span().Part(0, values.size()), values), "upload");
  Must(plane.Upload(truth.span().Part(0, expected.size()), expected), "upload");
  Must(plane.Fill(answer.span(), kPoisonByte), "poison");
  const Digest before = Must(plane.DigestOf(Dtype::kF32, input.span(), 3), "digest");
  peer.Ask({{"verb", "double"}, {"leaves", leaves}});
  for (size_t d = 0; d < std::size(dtypes); ++d) {
    const size_t size = 1001 * DtypeSize(dtypes[d]);
    const Distance distance = Must(plane.Compare(dtypes[d], answer.span().Part(d * part, size), dtypes[d],
                                                 truth.span().Part(d * part, size)),
                                   "compare");
    Expect(distance.relative == 0 && distance.poisoned == 0 && distance.elements == 1001,
           fmt::format("torch's {} through shared memory", DtypeName(dtypes[d])));
    // After the worker's output the poison is still there.
    const size_t behind = (size + 15) / 16 * 16;
    const Distance rest = Must(plane.Compare(Dtype::kF32, answer.span().Part(d * part + behind, 4096),
                                             Dtype::kF32, truth.span().Part(0, 4096)),
                               "compare");
    Expect(rest.poisoned == 1024, "poison behind an answer");
  }
  Expect(SameBytes(Must(plane.DigestOf(Dtype::kF32, input.span(), 3), "digest"), before),
         "inputs are unchanged");
  // A product, whose float64 truth the worker leaves on the device.
  const size_t rows = 2048;
  std::vector<std::byte> matrix(rows * rows * 4);
  FillMildly(Dtype::kF32, &matrix, 9);
  Must(plane.Upload(input.span().Part(0, matrix.size()), matrix), "upload");
  peer.Ask({{"verb", "matmul"}, {"rows", rows}});
  const Distance product = Must(plane.Compare(Dtype::kF32, answer.span().Part(0, rows * rows * 4),
                                              Dtype::kF64, truth.span().Part(0, rows * rows * 8)),
                                "compare");
  Expect(product.relative > 0 && product.relative < 1e-3 && product.non_finite == 0, "a product in float32");
  fmt::print("product of 2048: relative error {:.2e}, worst {:.2e} at {}\n", product.relative, product.worst,
             product.worst_at);
  const Json rates = peer.Ask({{"verb", "bandwidth"}, {"bytes", bytes}});
  fmt::print("copies in the worker, 64 MB, TB/s read plus written: {}\n", DumpJson(rates));
  for (const char* name : {"input", "answer", "truth"}) peer.Ask({{"verb", "release"}, {"name", name}});
}

int Share(const std::string& name, const fs::path& script) {
  const SandboxLevel level = name == "landlock"     ? SandboxLevel::kLandlock
                             : name == "bubblewrap" ? SandboxLevel::kBubblewrap
                             : name == "best"       ? DetectSandbox()
                                                    : SandboxLevel::kNone;
  auto plane = OpenOrSkip();
  const TempFolder folder = Must(TempFolder::Make("hone-probe-"), "folder");
  const Stopwatch start;
  Result<Peer> started = StartWorker(level, fs::absolute(script), folder.path());
  if (!started.ok() && started.error().kind == ErrorKind::kUnavailable) {
    fmt::print("skipped: {}\n", started.error().message);
    return kSkipped;
  }
  Peer peer = Must(std::move(started), "start a worker");
  const std::string torch = GetString(peer.Read("start"), "torch");
  fmt::print("worker in {} with torch {} ready after {:.1f} s\n", Describe(level), torch, start.seconds());
  const MemoryInfo before = Must(plane->Memory(), "memory");
  ShareValues(*plane, peer);
  for (const size_t bytes : {size_t{1} << 20, size_t{256} << 20, size_t{6'400'000'000}}) {
    const Stopwatch allocating;
    DeviceBuffer buffer = Must(plane->Allocate(bytes, true), "allocate");
    const double allocated_ms = 1e3 * allocating.seconds();
    const Stopwatch exporting;
    { const UniqueFd descriptor = Must(buffer.Export(), "export"); }
    const double exported_ms = 1e3 * exporting.seconds();
    const Json mapped = peer.Map("large", buffer, true);
    const Stopwatch filling;
    peer.Ask({{"verb", "fill"}, {"name", "large"}, {"bytes", bytes}, {"value", 0x3F3F3F3F}});
    const double filled_ms = 1e3 * filling.seconds();
    DeviceBuffer twin = Must(plane->Allocate(bytes, false), "allocate");
    Must(plane->Fill(twin.span(), 0x3F), "fill");
    Expect(Must(plane->Equal(buffer.span(), twin.span()), "equal"), "what torch filled");
    const Json released = peer.Ask({{"verb", "release"}, {"name", "large"}});
    fmt::print(
        "{:>11} bytes: allocate {:.2f} ms, export {:.2f}, import+map {:.2f}, tensor {:.2f}, fill by torch "
        "{:.2f}, release {:.2f}\n",
        bytes, allocated_ms, exported_ms, GetNumber(mapped, "map_ms"), GetNumber(mapped, "tensor_ms"),
        filled_ms, GetNumber(released, "release_ms"));
  }
  // The parent frees the buffer while the worker still has it. The memory is released when the worker
  // releases it.
  {
    DeviceBuffer held = Must(plane->Allocate(1 << 30, true), "allocate");
    peer.Map("held", held, true);
    held.Free();
    const size_t lacking = before.free_bytes - Must(plane->Memory(), "memory").free_bytes;
    peer.Ask({{"verb", "release"}, {"name", "held"}});
    const size_t later = before.free_bytes - Must(plane->Memory(), "memory").free_bytes;
    fmt::print("a freed buffer that a worker still maps: {} MB missing, {} after it lets go\n", lacking >> 20,
               static_cast<int64_t>(later) >> 20);
  }
  // This comes last, because a fault ends the worker's context.
  DeviceBuffer secret = Must(plane->Allocate(1 << 20, true), "allocate");
  Must(plane->Fill(secret.span(), 7), "fill");
  peer.Map("secret", secret, false);
  const Json refused = peer.Ask({{"verb", "write"}, {"name", "secret"}});
  fmt::print("a write through a read-only mapping: {}\n", GetString(refused, "refused", "?"));
  Expect(!GetString(refused, "refused").empty(), "a write through a read-only mapping must fault");
  std::vector<std::byte> bytes(1 << 20);
  Must(plane->Download(bytes, secret.span()), "download");
  Expect(bytes == std::vector<std::byte>(1 << 20, std::byte{7}),
         "the parent's context and memory survive it");
  secret.Free();
  peer.channel.Close();
  peer.started.child->WaitUntil(Deadline::After(10));
  peer.started.child->Kill();
  const MemoryInfo after = Must(plane->Memory(), "memory");
  fmt::print("free device memory after the worker's end: {:+.0f} MB against before\n",
             (static_cast<double>(after.free_bytes) - static_cast<double>(before.free_bytes)) / 1048576);
  Expect(after.free_bytes >= before.free_bytes, "device memory comes back");
  fmt::print("share {}: {} failures\n", name, failures);
  return failures == 0 ? 0 : 1;
}

// Median seconds per call, after one warm-up call.
double Time(int count, const std::function<void()>& call) {
  call();
  std::vector<double> seconds;
  for (int i = 0; i < count; ++i) {
    const Stopwatch watch;
    call();
    seconds.push_back(watch.seconds());
  }
  return MedianOf(seconds);
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Other builds of the kernels, and other grids than Hone's.
void BenchVariant(DevicePlane& plane, const std::string& label, const std::string& ptx, DeviceSpan data) {
  const Driver& driver = *Must(LoadDriver(), "driver");
  auto context = Must(DeviceContext::Open(driver, 0), "context");
  const DeviceContext::Scope scope(*context);
  cuda::Module module = nullptr;
  const Stopwatch loading;
  Must(driver.Check(driver.ModuleLoadData(&module, ptx.c_str()), "load"), label);
  const double load_ms = 1e3 * loading.seconds();
  DeviceBuffer scratch = Must(plane.Allocate(2 << 20, false), "scratch");
  std::string line = fmt::format("{:<14} load {:4.0f} ms ", label, load_ms);
  for (const char* name :
       {"hone_digest_f32", "hone_digest_bf16", "hone_digest_f16", "hone_digest_f64", "hone_digest_bytes"}) {
    cuda::Function function = nullptr;
    Must(driver.Check(driver.ModuleGetFunction(&function, module, name), "find"), name);
    line += fmt::format(" {}", name + 12);
    for (const unsigned blocks : {528U, 1056U, 2112U, 8448U}) {
      kernels::DigestArgs args = {reinterpret_cast<void*>(data.address), data.bytes, 1};
      cuda::Address partials = scratch.span().address;
      void* arguments[] = {&args, &partials};
      const double seconds = Time(7, [&] {
        Must(driver.Check(driver.LaunchKernel(function, blocks, 1, 1, kernels::kThreads, 1, 1, 0, nullptr,
                                              arguments, nullptr),
                          "launch"),
             name);
        Must(driver.Check(driver.CtxSynchronize(), "run"), name);
      });
      line += fmt::format(" {:.2f}", static_cast<double>(data.bytes) / seconds / 1e12);
    }
  }
  fmt::print("{}\n", line);
  driver.ModuleUnload(module);
}

int Bench(const std::vector<std::string>& others) {
  auto plane = OpenOrSkip();
  {
    const Stopwatch again;
    auto second = Must(DevicePlane::Open(0), "open");
    fmt::print("a second plane of the process opens in {:.0f} ms\n", 1e3 * again.seconds());
  }
  const size_t bytes = 6'400'000'000;
  DeviceBuffer a = Must(plane->Allocate(bytes, true), "allocate");
  DeviceBuffer b = Must(plane->Allocate(bytes, true), "allocate");
  DeviceBuffer wide = Must(plane->Allocate(2 * bytes, false), "allocate");
  // Copies one random part over and over. Zeros would give too high rates.
  std::vector<std::byte> seed(64 << 20);
  FillMildly(Dtype::kF32, &seed, 1);
  for (const DeviceSpan span : {a.span(), b.span(), wide.span()})
    for (size_t at = 0; at < span.bytes; at += seed.size()) {
      const size_t count = std::min(seed.size(), span.bytes - at);
      if (at == 0)
        Must(plane->Upload(span.Part(0, count), std::span(seed).first(count)), "upload");
      else
        Must(plane->Copy(span.Part(at, count), span.Part(0, count)), "copy");
    }
  const double size = static_cast<double>(bytes);
  fmt::print("{:<34} {:>9} {:>7}\n", "6.4 GB", "ms", "TB/s");
  const auto row = [&](const std::string& name, double moved, const std::function<void()>& call) {
    const double seconds = Time(7, call);
    fmt::print("{:<34} {:>9.3f} {:>7.2f}\n", name, 1e3 * seconds, moved / seconds / 1e12);
    return seconds;
  };
  row("copy (read plus written)", 2 * size, [&] { Must(plane->Copy(b.span(), a.span()), "copy"); });
  row("fill", size, [&] { Must(plane->Fill(b.span(), kPoisonByte), "fill"); });
  Must(plane->Copy(b.span(), a.span()), "copy");
  row("equal", 2 * size, [&] { Must(plane->Equal(a.span(), b.span()), "equal"); });
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBf16, Dtype::kF64, Dtype::kU8})
    row(fmt::format("digest {}", DtypeName(dtype)), size,
        [&] { Must(plane->DigestOf(dtype, a.span(), 1), "digest"); });
  // Both passes read the truth, so its bytes count twice.
  row("compare float32 with float64", 5 * size,
      [&] { Must(plane->Compare(Dtype::kF32, a.span(), Dtype::kF64, wide.span()), "compare"); });
  row("compare float32 with float32", 3 * size,
      [&] { Must(plane->Compare(Dtype::kF32, a.span(), Dtype::kF32, b.span()), "compare"); });
  row("compare bfloat16 with bfloat16", 3 * size,
      [&] { Must(plane->Compare(Dtype::kBf16, a.span(), Dtype::kBf16, b.span()), "compare"); });
  const DeviceSpan half = a.span().Part(0, bytes / 2);
  row("compare float16 (3.2 GB) with float64", 4.5 * size,
      [&] { Must(plane->Compare(Dtype::kF16, half, Dtype::kF64, wide.span()), "compare"); });
  row("compare int64 with int64", 3 * size,
      [&] { Must(plane->Compare(Dtype::kI64, a.span(), Dtype::kI64, b.span()), "compare"); });
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{4096, 390625}, {100000000, 16}, {16, 64, 1562500}, {1600000000}}) {
    const std::string text = ShapeText(shape);
    const auto prepare = [&] {
      return Must(plane->PrepareScales(Dtype::kF32, Dtype::kF64, wide.span(), shape), "scales");
    };
    row("prepare scales " + text, 4 * 2 * size, prepare);
    const TruthScales scales = prepare();
    row("compare, shaped " + text, 5 * size,
        [&] { Must(plane->Compare(Dtype::kF32, a.span(), Dtype::kF64, wide.span(), &scales), "compare"); });
  }
  const DeviceSpan small = a.span().Part(0, 1 << 20);
  row("digest float32, 1 MB", 1 << 20, [&] { Must(plane->DigestOf(Dtype::kF32, small, 1), "digest"); });
  row("compare float32, 1 MB", 3 << 20,
      [&] { Must(plane->Compare(Dtype::kF32, small, Dtype::kF32, b.span().Part(0, 1 << 20)), "compare"); });
  const double cpu = CpuSeconds();
  const Stopwatch wall;
  for (int i = 0; i < 50; ++i) Must(plane->DigestOf(Dtype::kF32, a.span(), 1), "digest");
  fmt::print("processor time while waiting for digests: {:.1f}%\n",
             100 * (CpuSeconds() - cpu) / wall.seconds());
  std::fflush(stdout);
  fmt::print("digests in TB/s with 528, 1056, 2112 and 8448 blocks:\n");
  for (const std::string& path : others)
    BenchVariant(*plane, fs::path(path).stem().string(), Must(ReadFile(path), path), a.span());
  return 0;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  hone::RunSandboxExecIfAsked(argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 1 && words[0] == "check") return hone::Check();
  if (words.size() == 3 && words[0] == "share") return hone::Share(words[1], words[2]);
  if (!words.empty() && words[0] == "bench") return hone::Bench({words.begin() + 1, words.end()});
  fmt::print(
      "usage: hone_device_probe check | share none|landlock|bubblewrap|best SCRIPT | bench [PTX...]\n");
  return 2;
}
