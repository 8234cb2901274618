#include "model/tunables.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "source/python_ast.h"

namespace hone {

namespace {

constexpr size_t kMostTunables = 8;
constexpr size_t kMostValues = 16;

Error Wrong(std::string message) {
  return Error{ErrorKind::kInvalid, std::move(message)};
}

std::optional<Json> Literal(const PyNode* node) {
  switch (node->kind) {
    case PyKind::kInt:
      return node->big ? std::nullopt : std::optional<Json>(node->integer);
    case PyKind::kFloat:
      return Json(node->number);
    case PyKind::kString:
      return Json(ValidUtf8(node->string));
    case PyKind::kTrue:
      return Json(true);
    case PyKind::kFalse:
      return Json(false);
    case PyKind::kUnaryOp: {
      if (node->op != "-") return std::nullopt;
      const std::optional<Json> value = Literal(node->value);
      if (!value || !value->is_number()) return std::nullopt;
      if (value->is_number_integer()) return Json(-value->get<int64_t>());
      return Json(-value->get<double>());
    }
    default:
      return std::nullopt;
  }
}

// Prints a value as Python. JSON's string escapes have the same meaning in Python.
std::string PythonLiteral(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  return DumpJson(value);
}

// Equal and of the same type: 1, 1.0 and True are three values here.
bool Same(const Json& a, const Json& b) {
  return a == b && a.is_number_float() == b.is_number_float() && a.is_boolean() == b.is_boolean();
}

struct Assigned {
  const PyNode* value = nullptr;  // of the only plain assignment
  int times = 0;                  // bindings at module level, including branches and loops
};

// Finds what module-level code binds to a name. Functions and classes have their own names.
Assigned FindAssigned(const PyNode* module, std::string_view name) {
  Assigned found;
  WalkPython(module, [&](const PyNode* node) {
    if (node->Is(PyKind::kFunction) || node->Is(PyKind::kClass)) {
      found.times += node->name == name ? 1 : 0;
      return false;
    }
    const PyNode* target = nullptr;
    if (node->Is(PyKind::kAssign) && node->args.size() == 1) target = node->args[0];
    if (node->Is(PyKind::kAnnAssign)) target = node->target;
    if (target != nullptr && target->IsName(name) && node->value != nullptr) {
      ++found.times;
      if (node->parent == module) found.value = node->value;
      return true;
    }
    const bool binds_otherwise = node->Is(PyKind::kAssign) || node->Is(PyKind::kAugAssign) ||
                                 node->Is(PyKind::kFor) || node->Is(PyKind::kNamedExpr) ||
                                 node->Is(PyKind::kDelete);
    if (!binds_otherwise) return true;
    std::vector<const PyNode*> targets;
    if (!node->Is(PyKind::kNamedExpr) && !node->Is(PyKind::kFor))
      targets.assign(node->args.begin(), node->args.end());
    if (node->target != nullptr) targets.push_back(node->target);
    for (const PyNode* part : targets)
      WalkPython(part, [&](const PyNode* inside) {
        found.times += inside->IsName(name) ? 1 : 0;
        return !inside->Is(PyKind::kSubscript) && !inside->Is(PyKind::kAttribute);
      });
    return true;
  });
  return found;
}

struct Place {
  Tunable tunable;
  uint32_t start = 0;  // of the constant's value
  uint32_t end = 0;
};

Result<std::vector<Json>> ReadValues(const std::string& name, const PyNode* list) {
  if (!list->Is(PyKind::kList) && !list->Is(PyKind::kTuple))
    return Wrong(fmt::format("HONE_TUNE[\"{}\"] is not a list of values", name));
  if (list->args.empty()) return Wrong(fmt::format("HONE_TUNE[\"{}\"] has no values", name));
  std::vector<Json> values;
  for (const PyNode* item : list->args) {
    const std::optional<Json> value = Literal(item);
    if (!value)
      return Wrong(fmt::format(
          "HONE_TUNE[\"{}\"] holds something that is not a plain number, string or boolean", name));
    if (std::none_of(values.begin(), values.end(), [&](const Json& seen) { return Same(seen, *value); }))
      values.push_back(*value);
  }
  if (values.size() > kMostValues)
    return Wrong(
        fmt::format("HONE_TUNE[\"{}\"] has {} values; {} is the most", name, values.size(), kMostValues));
  return values;
}

Result<Place> ReadPlace(const PyNode* module, const PyNode* key, const PyNode* list) {
  if (key == nullptr || !key->Is(PyKind::kString) || key->string.empty())
    return Wrong("HONE_TUNE has a key that is not a plain string");
  Place place;
  place.tunable.name = ValidUtf8(key->string);
  const std::string& name = place.tunable.name;
  HONE_ASSIGN_OR_RETURN(place.tunable.values, ReadValues(name, list));
  const Assigned assigned = FindAssigned(module, name);
  if (assigned.times == 0)
    return Wrong(fmt::format("HONE_TUNE names {}, but the file has no module-level {} = value", name, name));
  if (assigned.times > 1 || assigned.value == nullptr)
    return Wrong(fmt::format("{} must be assigned once, alone and at module level, to be tuned", name));
  const std::optional<Json> current = Literal(assigned.value);
  if (!current)
    return Wrong(
        fmt::format("{} must be a plain number, string or boolean to be tuned (no tl.constexpr, no "
                    "expression)",
                    name));
  place.tunable.current = *current;
  place.start = assigned.value->start;
  place.end = assigned.value->end;
  return place;
}

Result<std::vector<Place>> ReadPlaces(const std::string& source) {
  std::vector<Place> places;
  if (!Contains(source, "HONE_TUNE")) return places;
  const SyntaxTree syntax = SyntaxTree::Parse(source, Language::kPython);
  if (syntax.gave_up() || syntax.first_error() != nullptr)
    return Wrong("the candidate does not parse, so its HONE_TUNE cannot be read");
  const PyTree tree = BuildPythonTree(syntax);
  const Assigned declared = FindAssigned(tree.module, "HONE_TUNE");
  if (declared.times == 0) return places;
  if (declared.times > 1 || declared.value == nullptr || !declared.value->Is(PyKind::kDict))
    return Wrong(
        "HONE_TUNE must be assigned once, at module level, as a literal dictionary of name to values");
  const PyNode* dict = declared.value;
  if (dict->args.size() > kMostTunables)
    return Wrong(fmt::format("HONE_TUNE has {} names; {} is the most", dict->args.size(), kMostTunables));
  for (size_t i = 0; i < dict->args.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(Place place, ReadPlace(tree.module, dict->keys[i], dict->args[i]));
    for (const Place& other : places)
      if (other.tunable.name == place.tunable.name)
        return Wrong(fmt::format("HONE_TUNE names {} twice", place.tunable.name));
    places.push_back(std::move(place));
  }
  return places;
}

}  // namespace

Result<std::vector<Tunable>> ReadTunables(const std::string& source) {
  HONE_ASSIGN_OR_RETURN(std::vector<Place> places, ReadPlaces(source));
  std::vector<Tunable> out;
  for (Place& place : places) out.push_back(std::move(place.tunable));
  return out;
}

Result<std::string> ApplyTunables(const std::string& source, const std::map<std::string, Json>& values) {
  HONE_ASSIGN_OR_RETURN(std::vector<Place> places, ReadPlaces(source));
  for (const auto& [name, value] : values) {
    const auto place = std::find_if(places.begin(), places.end(),
                                    [&, n = &name](const Place& p) { return p.tunable.name == *n; });
    if (place == places.end())
      return Wrong(fmt::format("the candidate does not declare {} in HONE_TUNE", name));
    const std::vector<Json>& allowed = place->tunable.values;
    if (std::none_of(allowed.begin(), allowed.end(), [v = &value](const Json& a) { return Same(a, *v); }))
      return Wrong(
          fmt::format("{} is not one of the values HONE_TUNE declares for {}", DumpJson(value), name));
  }
  // Edits from the end, so that earlier positions stay valid.
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.start > b.start; });
  std::string out = source;
  for (const Place& place : places) {
    const auto value = values.find(place.tunable.name);
    if (value != values.end())
      out.replace(place.start, place.end - place.start, PythonLiteral(value->second));
  }
  return out;
}

}  // namespace hone
