#include "cli/config.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <map>
#include <sstream>
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "base/json.h"
#include "base/text.h"
#include "base/text_table.h"
#include "cli/commands.h"
#include "cli/common.h"

namespace hone {

namespace {

// Options by long name without the dashes. Positional arguments and --help are not settings.
std::map<std::string, Option*> OptionsOf(Command& command) {
  std::map<std::string, Option*> options;
  for (Option& option : command.options())
    if (!option.positional() && !option.is_text()) options[option.name().substr(2)] = &option;
  return options;
}

std::string VariableName(const std::string& text) {
  std::string name = "HONE_";
  for (const char c : text)
    name += c == '-' || c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string TextOf(const toml::node& node) {
  if (const auto text = node.value<std::string>()) return *text;
  std::ostringstream out;
  out << toml::node_view<const toml::node>(node);
  std::string list = out.str();
  if (node.is_array()) {
    // Joins a list with the option's own separator.
    std::vector<std::string> parts;
    for (const toml::node& item : *node.as_array()) parts.push_back(TextOf(item));
    list = Join(parts, ",");
  }
  return list;
}

class Applier {
 public:
  explicit Applier(CommandTable& table) {
    for (Command& command : table.commands) commands_[command.name()] = OptionsOf(command);
    commands_.erase("config");
    commands_.erase("completion");
  }

  Status File(const fs::path& path) {
    std::error_code ignored;
    if (path.empty() || !fs::exists(path, ignored)) return Ok();
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, 1 << 20));
    const toml::parse_result parsed = toml::parse(text, path.string());
    if (!parsed)
      return Error{ErrorKind::kUsage,
                   fmt::format("{}:{}: {}", path.string(), parsed.error().source().begin.line,
                               parsed.error().description())};
    for (const bool defaults : {true, false})
      for (const auto& [name, node] : parsed.table()) {
        const std::string section(name.str());
        if ((section == "defaults") != defaults) continue;
        if (!node.is_table())
          return Error{ErrorKind::kUsage,
                       fmt::format("{}: '{}' is not a table; write [defaults] or [optimize] above it",
                                   path.string(), section)};
        for (const auto& [key, value] : *node.as_table())
          HONE_RETURN_IF_ERROR(
              Set(section, std::string(key.str()), TextOf(value), path.string(), path.string()));
      }
    return Ok();
  }

  Status Environment() {
    for (const auto& [command, options] : commands_)
      for (const auto& [name, option] : options)
        for (const std::string& variable : {VariableName(name), VariableName(command + "." + name)}) {
          const char* value = std::getenv(variable.c_str());
          if (value != nullptr && *value != '\0')
            HONE_RETURN_IF_ERROR(Set(command, name, value, variable, "$" + variable));
        }
    return Ok();
  }

  std::vector<Setting> Settings() const {
    std::vector<Setting> settings;
    for (const auto& [command, options] : commands_)
      for (const auto& [name, option] : options) {
        const auto found = sources_.find(command + "." + name);
        settings.push_back(Setting{command + "." + name,
                                   found == sources_.end() ? option->ValueText() : found->second.value,
                                   found == sources_.end() ? "default" : found->second.source});
      }
    return settings;
  }

 private:
  Status Set(const std::string& section, const std::string& name, const std::string& value,
             const std::string& source, const std::string& where) {
    bool known = false;
    std::vector<std::string> names;
    for (auto& [command, options] : commands_) {
      if (section != "defaults" && section != command) continue;
      for (const auto& [option, ignored] : options) names.push_back(option);
      const auto option = options.find(name);
      if (option == options.end()) continue;
      known = true;
      // A list is one text here, whatever separates its values on the command line.
      HONE_RETURN_IF_ERROR(
          option->second->Assign(option->second->is_list() ? Split(value, ',') : std::vector{value})
              .WithContext(where + ": " + name));
      sources_[command + "." + name] = Setting{command + "." + name, value, source};
    }
    if (known) return Ok();
    const std::string meant = ClosestWord(name, names);
    return Error{ErrorKind::kUsage,
                 names.empty() ? fmt::format("{}: there is no command '{}'", where, section)
                               : fmt::format("{}: [{}] has no setting '{}'{}", where, section, name,
                                             meant.empty() ? "" : "; did you mean '" + meant + "'?")};
  }

  std::map<std::string, std::map<std::string, Option*>> commands_;
  std::map<std::string, Setting> sources_;
};

struct ConfigFlags {
  bool all = false;
  bool json = false;
};

void ShowSettings(const ConfigFlags& flags, const std::vector<Setting>& settings) {
  const ConfigFiles files = FindConfigFiles();
  OrderedJson json = OrderedJson::array();
  if (!flags.json)
    fmt::print("user file     {}\nproject file  {}\n", files.user.string(),
               files.project.empty() ? "none" : files.project.string());
  TextTable table;
  table.columns = {{"setting", 0, 20, false}, {"value", 0, 12, false}, {"source", 0, 16, false}};
  for (const Setting& setting : settings) {
    if (!flags.all && setting.source == "default") continue;
    if (flags.json)
      json.push_back({{"key", setting.key}, {"value", setting.value}, {"source", setting.source}});
    else
      table.rows.push_back({setting.key, setting.value.empty() ? "-" : setting.value, setting.source});
  }
  if (flags.json)
    fmt::print("{}\n", DumpJson(json, 2));
  else if (!table.rows.empty())
    fmt::print("{}", PrintTable(table, Style(stdout)));
}

}  // namespace

ConfigFiles FindConfigFiles() {
  ConfigFiles files;
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const fs::path base = config != nullptr && *config != '\0' ? fs::path(config) : HomeFolder() / ".config";
  files.user = base / "hone" / "hone.toml";
  std::error_code code;
  for (fs::path folder = fs::current_path(code); !code && !folder.empty(); folder = folder.parent_path()) {
    if (fs::exists(folder / "hone.toml", code)) {
      files.project = folder / "hone.toml";
      break;
    }
    // A project ends at its repository's root.
    if (fs::exists(folder / ".git", code) || folder == folder.root_path()) break;
  }
  return files;
}

Result<std::vector<Setting>> ApplyConfig(CommandTable& table, const ConfigFiles& files) {
  Applier applier(table);
  HONE_RETURN_IF_ERROR(applier.File(files.user));
  HONE_RETURN_IF_ERROR(applier.File(files.project));
  HONE_RETURN_IF_ERROR(applier.Environment());
  return applier.Settings();
}

void AddConfigCommand(CommandTable& table, const std::vector<Setting>* settings) {
  Command& command = table.Add("config", "Show the settings in force and the source of each");
  auto flags = std::make_shared<ConfigFlags>();
  command.Add("--all", &flags->all, "Also list settings that have their default value");
  command.Add("--json", &flags->json, "Print the settings as JSON");
  command.Note(
      "Sources, weakest first: hone.toml in $XDG_CONFIG_HOME/hone, the nearest hone.toml from the working "
      "folder "
      "upwards, HONE_* variables, the command line.");
  command.Example("hone config");
  command.Example("hone config --all --json");
  command.Runs([flags, settings]() -> Result<int> {
    ShowSettings(*flags, *settings);
    return kExitAccepted;
  });
}

}  // namespace hone
