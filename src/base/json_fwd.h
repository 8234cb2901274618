// Names of the JSON types, for headers that only declare functions over them: whoever calls these includes
// base/json.h.
#pragma once

namespace hone {

// The two ways to order the members of an object: by name, or as they were added.
enum class JsonOrder { kSorted, kAsAdded };

template <JsonOrder kOrder>
class BasicJson;

using Json = BasicJson<JsonOrder::kSorted>;
using OrderedJson = BasicJson<JsonOrder::kAsAdded>;

}  // namespace hone
