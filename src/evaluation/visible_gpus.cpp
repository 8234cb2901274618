#include "evaluation/visible_gpus.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/text.h"

namespace hone {

namespace {

std::string UuidText(const cuda::Uuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned>(uuid.bytes[i]));
  }
  return text;
}

}  // namespace

Result<std::vector<VisibleGpu>> ListVisibleGpus(const std::string& allowed, const Driver* driver) {
  if (driver == nullptr) {
    HONE_ASSIGN_OR_RETURN(driver, LoadDriver());
  }
  HONE_RETURN_IF_ERROR(driver->Check(driver->Init(0), "start the CUDA driver"));
  int count = 0;
  HONE_RETURN_IF_ERROR(driver->Check(driver->DeviceGetCount(&count), "count the GPUs"));
  if (count == 0) return Error{ErrorKind::kUnavailable, "CUDA shows no GPU to this process"};
  const std::vector<std::string> words = allowed.empty() ? std::vector<std::string>{} : Split(allowed, ',');
  std::vector<VisibleGpu> gpus;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cuda::Device device = 0;
    cuda::Uuid uuid = {};
    char name[256] = "";
    HONE_RETURN_IF_ERROR(driver->Check(driver->DeviceGet(&device, ordinal), "find a GPU"));
    HONE_RETURN_IF_ERROR(driver->Check(driver->DeviceGetUuid(&uuid, device), "identify a GPU"));
    HONE_RETURN_IF_ERROR(driver->Check(driver->DeviceGetName(name, sizeof name - 1, device), "name a GPU"));
    VisibleGpu gpu{UuidText(uuid), name, UuidText(uuid)};
    // CUDA uses a prefix of the list, up to the first word that names no device.
    if (static_cast<size_t>(ordinal) < words.size()) gpu.visible = std::string(Trim(words[ordinal]));
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

std::string NameOfUsedGpu() {
  static const std::string kName = [] {
    const Result<std::vector<VisibleGpu>> gpus = ListVisibleGpus("");
    return gpus.ok() ? "cuda-" + gpus->front().uuid.substr(4) : std::string("cuda");
  }();
  return kName;
}

}  // namespace hone
