#include "graph/graph_json.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>

#include "base/json.h"

namespace hone::graph {

namespace {

constexpr int64_t kVersion = 1;

using Ids = std::map<int64_t, ValueId>;  // key: id in the JSON

Error Wrong(const std::string& what) {
  return {ErrorKind::kInvalid, "the graph's JSON " + what};
}

// JSON has no infinities, so they are stored as strings.
Json NumberToJson(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return number;
}

Result<double> NumberFromJson(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) {
    if (json.str() == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (json.str() == "inf") return std::numeric_limits<double>::infinity();
    if (json.str() == "-inf") return -std::numeric_limits<double>::infinity();
  }
  return Wrong("has " + DumpJson(json) + " where a number is expected");
}

Result<std::vector<double>> NumbersFromJson(const Json& json) {
  if (!json.is_array()) return Wrong("has no list of numbers");
  std::vector<double> numbers;
  for (const Json& item : json) {
    HONE_ASSIGN_OR_RETURN(const double number, NumberFromJson(item));
    numbers.push_back(number);
  }
  return numbers;
}

Json NumbersToJson(const std::vector<double>& numbers) {
  Json list = Json::array();
  for (const double number : numbers) list.push_back(NumberToJson(number));
  return list;
}

Result<std::vector<int64_t>> IntsFromJson(const Json& json, const std::string& what) {
  if (!json.is_array()) return Wrong("has no " + what);
  std::vector<int64_t> numbers;
  for (const Json& item : json) {
    if (!item.is_number_integer()) return Wrong("has " + DumpJson(item) + " among the " + what);
    numbers.push_back(item.get<int64_t>());
  }
  return numbers;
}

Result<DType> DTypeFromJson(const Json& json) {
  if (!json.is_string()) return Wrong("has a tensor without dtype");
  const std::optional<DType> dtype = DTypeFromName(json.str());
  if (!dtype) return Wrong("has the dtype " + json.str() + ", which Hone does not know");
  return *dtype;
}

Result<TensorType> TypeFromJson(const Json& json) {
  TensorType type;
  HONE_ASSIGN_OR_RETURN(type.dtype, DTypeFromJson(GetMember(json, "dtype")));
  HONE_ASSIGN_OR_RETURN(type.shape, IntsFromJson(GetMember(json, "shape"), "shape"));
  HONE_ASSIGN_OR_RETURN(type.strides, IntsFromJson(GetMember(json, "strides"), "strides"));
  for (const int64_t size : type.shape)
    if (size < 0) return Wrong("has a tensor of negative size");
  if (type.strides.size() != type.shape.size()) return Wrong("has a tensor with too few strides");
  return type;
}

void PutType(const TensorType& type, Json* json) {
  (*json)["dtype"] = NameOf(type.dtype);
  (*json)["shape"] = Json(type.shape);
  (*json)["strides"] = Json(type.strides);
}

Result<ValueId> IdFromJson(const Json& json, const Ids& ids) {
  if (json.is_number_integer())
    if (const auto found = ids.find(json.get<int64_t>()); found != ids.end()) return found->second;
  return Wrong("reads the value " + DumpJson(json) + " before it is written");
}

Result<ArgumentValue> ArgumentFromObject(const Json& json, const Ids& ids) {
  if (json.size() != 1) return Wrong("has the argument " + DumpJson(json));
  const std::string& key = json.keys().front();
  const Json& body = *json.begin();
  if (key == "v") {
    HONE_ASSIGN_OR_RETURN(const ValueId id, IdFromJson(body, ids));
    return ArgumentValue(id);
  }
  if (key == "vs") {
    ValueList list;
    if (!body.is_array()) return Wrong("has no list of values");
    for (const Json& item : body) {
      if (item.is_null()) {
        list.emplace_back();
        continue;
      }
      HONE_ASSIGN_OR_RETURN(const ValueId id, IdFromJson(item, ids));
      list.emplace_back(id);
    }
    return ArgumentValue(std::move(list));
  }
  if (key == "f") {
    HONE_ASSIGN_OR_RETURN(const double number, NumberFromJson(body));
    return ArgumentValue(number);
  }
  if (key == "fs") {
    HONE_ASSIGN_OR_RETURN(std::vector<double> numbers, NumbersFromJson(body));
    return ArgumentValue(std::move(numbers));
  }
  if (key == "bs") {
    std::vector<bool> flags;
    for (const Json& item : body) flags.push_back(item.is_boolean() && item.get<bool>());
    return ArgumentValue(std::move(flags));
  }
  if (key == "dtype") {
    HONE_ASSIGN_OR_RETURN(const DType dtype, DTypeFromJson(body));
    return ArgumentValue(dtype);
  }
  if ((key == "device" || key == "layout" || key == "memory_format") && body.is_string())
    return ArgumentValue(Symbol{key, body.str()});
  return Wrong("has the argument " + DumpJson(json));
}

Result<ArgumentValue> ArgumentFromJson(const Json& json, const Ids& ids) {
  if (json.is_null()) return ArgumentValue(None{});
  if (json.is_boolean()) return ArgumentValue(json.get<bool>());
  if (json.is_number_integer()) return ArgumentValue(json.get<int64_t>());
  if (json.is_string()) return ArgumentValue(json.str());
  if (json.is_array()) {
    HONE_ASSIGN_OR_RETURN(std::vector<int64_t> numbers, IntsFromJson(json, "int list"));
    return ArgumentValue(std::move(numbers));
  }
  if (json.is_object()) return ArgumentFromObject(json, ids);
  return Wrong("has the argument " + DumpJson(json));
}

struct ArgumentWriter {
  static Json Member(const char* key, Json value) {
    Json object = Json::object();
    object[key] = std::move(value);
    return object;
  }
  Json operator()(None) const { return nullptr; }
  Json operator()(ValueId id) const { return Member("v", static_cast<int64_t>(id)); }
  Json operator()(bool flag) const { return flag; }
  Json operator()(int64_t number) const { return number; }
  Json operator()(double number) const { return Member("f", NumberToJson(number)); }
  Json operator()(DType dtype) const { return Member("dtype", NameOf(dtype)); }
  Json operator()(const std::string& text) const { return text; }
  Json operator()(const Symbol& symbol) const { return Member(symbol.kind.c_str(), symbol.name); }
  Json operator()(const std::vector<int64_t>& numbers) const { return Json(numbers); }
  Json operator()(const std::vector<double>& numbers) const { return Member("fs", NumbersToJson(numbers)); }
  Json operator()(const std::vector<bool>& flags) const {
    Json list = Json::array();
    for (const bool flag : flags) list.push_back(flag);
    return Member("bs", std::move(list));
  }
  Json operator()(const ValueList& values) const {
    Json list = Json::array();
    for (const std::optional<ValueId>& value : values)
      list.push_back(value ? Json(static_cast<int64_t>(*value)) : Json());
    return Member("vs", std::move(list));
  }
};

Result<ValueTree> TreeFromJson(const Json& json, const Ids& ids) {
  ValueTree tree;
  if (!json.is_object() || json.size() != 1) return Wrong("has the tree " + DumpJson(json));
  const std::string& key = json.keys().front();
  const Json& body = *json.begin();
  if (key == "v") {
    tree.kind = ValueTree::Kind::kValue;
    HONE_ASSIGN_OR_RETURN(tree.value, IdFromJson(body, ids));
    return tree;
  }
  if (key == "literal") {
    tree.kind = ValueTree::Kind::kLiteral;
    HONE_ASSIGN_OR_RETURN(tree.literal, ArgumentFromJson(body, ids));
    return tree;
  }
  if ((key != "tuple" && key != "list" && key != "dict") || !body.is_array())
    return Wrong("has the tree " + DumpJson(json));
  tree.kind = key == "tuple"  ? ValueTree::Kind::kTuple
              : key == "list" ? ValueTree::Kind::kList
                              : ValueTree::Kind::kDict;
  for (const Json& item : body) {
    const Json* child = &item;
    if (key == "dict") {
      if (!item.is_array() || item.size() != 2 || !item[0].is_string())
        return Wrong("has a dict without its keys");
      tree.keys.push_back(item[0].str());
      child = &item[1];
    }
    HONE_ASSIGN_OR_RETURN(ValueTree read, TreeFromJson(*child, ids));
    tree.children.push_back(std::move(read));
  }
  return tree;
}

Json TreeToJson(const ValueTree& tree) {
  switch (tree.kind) {
    case ValueTree::Kind::kValue:
      return ArgumentWriter::Member("v", static_cast<int64_t>(tree.value));
    case ValueTree::Kind::kLiteral:
      return ArgumentWriter::Member("literal", std::visit(ArgumentWriter{}, tree.literal));
    default:
      break;
  }
  Json list = Json::array();
  for (size_t i = 0; i < tree.children.size(); ++i) {
    Json child = TreeToJson(tree.children[i]);
    if (tree.kind == ValueTree::Kind::kDict)
      list.push_back(Json::array({Json(tree.keys[i]), std::move(child)}));
    else
      list.push_back(std::move(child));
  }
  const char* key = tree.kind == ValueTree::Kind::kTuple  ? "tuple"
                    : tree.kind == ValueTree::Kind::kList ? "list"
                                                          : "dict";
  return ArgumentWriter::Member(key, std::move(list));
}

Status ReadValue(const Json& json, Graph* graph, Ids* ids) {
  HONE_ASSIGN_OR_RETURN(TensorType type, TypeFromJson(json));
  const std::string kind = GetString(json, "kind");
  const std::string name = GetString(json, "name");
  const int64_t id = GetInt(json, "id", -1);
  if (ids->contains(id)) return Wrong(fmt::format("has two values {}", id));
  for (const ValueKind one :
       {ValueKind::kInput, ValueKind::kParameter, ValueKind::kBuffer, ValueKind::kConstant}) {
    if (kind != NameOf(one)) continue;
    if (!json.contains("data")) {
      const ValueId added = graph->AddValue(one, name, std::move(type));
      (*ids)[id] = added;
      if (json.contains("uniform")) {
        HONE_ASSIGN_OR_RETURN(const double uniform, NumberFromJson(json["uniform"]));
        graph->SetUniform(added, uniform);
      }
      graph->SetDrawnTriangle(added, GetString(json, "triangle"));
      return Ok();
    }
    HONE_ASSIGN_OR_RETURN(std::vector<double> data, NumbersFromJson(json["data"]));
    if (static_cast<int64_t>(data.size()) != type.elements())
      return Wrong("has a constant with too few elements");
    (*ids)[id] = graph->AddConstant(name, std::move(type), std::move(data));
    return Ok();
  }
  return Wrong("has a value of the kind '" + kind + "'");
}

Status ReadNode(const Json& json, Graph* graph, Ids* ids) {
  NewNode node;
  node.target = GetString(json, "target");
  node.module = GetString(json, "module");
  if (node.target.empty()) return Wrong("has a node without target");
  for (const Json& pair : GetMember(json, "args")) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string())
      return Wrong("has an argument without name");
    HONE_ASSIGN_OR_RETURN(ArgumentValue value, ArgumentFromJson(pair[1], *ids));
    node.arguments.push_back({pair[0].str(), std::move(value)});
  }
  std::vector<int64_t> names;
  for (const Json& result : GetMember(json, "results")) {
    HONE_ASSIGN_OR_RETURN(TensorType type, TypeFromJson(result));
    node.results.push_back(std::move(type));
    names.push_back(GetInt(result, "id", -1));
    if (ids->contains(names.back())) return Wrong(fmt::format("has two values {}", names.back()));
  }
  const NodeId id = graph->Append(std::move(node));
  for (size_t i = 0; i < names.size(); ++i) (*ids)[names[i]] = graph->node(id).results[i];
  return Ok();
}

}  // namespace

Result<Graph> GraphFromJson(const Json& json) {
  if (!json.is_object()) return Wrong("is no object");
  if (GetInt(json, "version") != kVersion)
    return Wrong(fmt::format("has version {} instead of {}", GetInt(json, "version"), kVersion));
  Graph graph;
  Ids ids;
  for (const Json& value : GetMember(json, "values")) HONE_RETURN_IF_ERROR(ReadValue(value, &graph, &ids));
  for (const Json& node : GetMember(json, "nodes")) HONE_RETURN_IF_ERROR(ReadNode(node, &graph, &ids));
  for (const Json& input : GetMember(json, "inputs")) {
    HONE_ASSIGN_OR_RETURN(ValueTree tree, TreeFromJson(input, ids));
    graph.AddInput(std::move(tree));
  }
  HONE_ASSIGN_OR_RETURN(ValueTree outputs, TreeFromJson(GetMember(json, "outputs"), ids));
  graph.SetOutputs(std::move(outputs));
  graph.verified = GetBool(json, "verified");
  graph.note = GetString(json, "note");
  HONE_RETURN_IF_ERROR(graph.Verify());
  return graph;
}

Json ToJson(const Graph& graph) {
  Json json = {{"version", kVersion}, {"verified", graph.verified}, {"note", graph.note}};
  json["values"] = Json::array();
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(static_cast<ValueId>(i));
    if (value.kind == ValueKind::kResult) continue;
    Json one = {{"id", static_cast<int64_t>(i)}, {"kind", NameOf(value.kind)}, {"name", value.name}};
    PutType(value.type, &one);
    if (value.has_data) one["data"] = NumbersToJson(value.data);
    if (value.uniform) one["uniform"] = NumbersToJson({*value.uniform})[0];
    if (!value.drawn_triangle.empty()) one["triangle"] = value.drawn_triangle;
    json["values"].push_back(std::move(one));
  }
  json["nodes"] = Json::array();
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    Json one = {{"target", node.target}, {"module", node.module}};
    one["args"] = Json::array();
    for (const Argument& argument : node.arguments)
      one["args"].push_back(Json::array({Json(argument.name), std::visit(ArgumentWriter{}, argument.value)}));
    one["results"] = Json::array();
    for (const ValueId result : node.results) {
      Json written = {{"id", static_cast<int64_t>(result)}};
      PutType(graph.type(result), &written);
      one["results"].push_back(std::move(written));
    }
    json["nodes"].push_back(std::move(one));
  }
  json["inputs"] = Json::array();
  for (const ValueTree& tree : graph.inputs()) json["inputs"].push_back(TreeToJson(tree));
  json["outputs"] = TreeToJson(graph.outputs());
  return json;
}

}  // namespace hone::graph
