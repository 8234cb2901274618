// Forward declarations of the JSON types, for headers that only declare functions over them. Code that calls
// such functions includes base/json.h.
#pragma once

namespace hone {

// How an object orders its members: by name, or by insertion.
enum class JsonOrder { kSorted, kAsAdded };

template <JsonOrder kOrder>
class BasicJson;

using Json = BasicJson<JsonOrder::kSorted>;
using OrderedJson = BasicJson<JsonOrder::kAsAdded>;

}  // namespace hone
