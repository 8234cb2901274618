#include "cli/doctor_command.h"

#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/common.h"

namespace hone {

namespace {

struct DoctorOptions {
  std::string python;
  bool json = false;
};

std::string Line(const Style& style, const std::string& label, const std::string& value) {
  return fmt::format("  {}{}\n", style.Dim(fmt::format("{:<12}", label)), value);
}

std::string Bytes(int64_t bytes) {
  return HumanBytes(static_cast<double>(bytes));
}

std::string RuleInWords(const PythonInfo& python) {
  if (python.chosen_by == "VIRTUAL_ENV") return "the active virtual environment";
  if (python.chosen_by == "python3") return "python3 on the path";
  if (python.chosen_by == "hone") return "made by Hone's set-up";
  return "named by " + python.chosen_by;
}

std::string MachineText(const DoctorFacts& facts, const Style& style) {
  const CpuFacts& cpu = facts.cpu;
  std::string text = style.Bold("Machine") + "\n";
  text += Line(style, "CPU", fmt::format("{}, {} core{}", cpu.model, cpu.cores, cpu.cores == 1 ? "" : "s"));
  text += Line(style, "features", cpu.features.empty() ? "none that Hone uses" : Join(cpu.features, ", "));
  text += Line(style, "memory",
               fmt::format("{}, {} available", Bytes(cpu.memory_bytes), Bytes(cpu.memory_available_bytes)));
  if (facts.gpus.empty()) {
    text += Line(style, "GPU",
                 facts.gpu_without_driver ? style.Yellow("found, but the driver does not respond") : "none");
  }
  for (const GpuFacts& gpu : facts.gpus) {
    const std::string capability =
        gpu.compute_capability.empty() ? "" : ", compute capability " + gpu.compute_capability;
    text +=
        Line(style, "GPU",
             fmt::format("{}, {}{}, driver {}", gpu.name, Bytes(gpu.memory_bytes), capability, gpu.driver));
  }
  return text;
}

std::string PythonText(const DoctorFacts& facts, const Style& style) {
  std::string text = style.Bold("Python") + "\n";
  if (!facts.python) return text + Line(style, "none", style.Red(facts.python_error));
  const PythonInfo& python = *facts.python;
  text += Line(style, "interpreter",
               fmt::format("{} ({}), {}", python.program.string(), python.version, RuleInWords(python)));
  text += Line(style, "torch",
               fmt::format("{}, {}", python.torch_version,
                           python.torch_cuda.empty() ? "for the CPU" : "for CUDA " + python.torch_cuda));
  text += Line(style, "Triton",
               python.triton_version.empty() ? style.Yellow("not installed") : python.triton_version);
  return text;
}

std::string ToolsText(const DoctorFacts& facts, const Style& style) {
  std::string text = style.Bold("Tools") + "\n";
  for (const ToolFacts& tool : facts.tools) {
    const std::string label = fmt::format("{:<18}", tool.name);
    text += fmt::format(
        "  {}{}\n", style.Dim(label),
        tool.path.empty()
            ? style.Dim("not installed")
            : fmt::format("{:<10} {}", tool.version.empty() ? "?" : tool.version, tool.path.string()));
  }
  return text;
}

std::string PlaceText(const DoctorFacts& facts, const Style& style) {
  std::string text = style.Bold("Place") + "\n";
  text += Line(style, "sandbox",
               facts.sandbox == SandboxLevel::kNone ? style.Red("none: candidates run unconfined")
                                                    : Describe(facts.sandbox));
  for (const FolderFacts& folder : facts.folders) {
    text +=
        Line(style, folder.role,
             fmt::format("{}, {}", folder.path.string(),
                         folder.writable ? Bytes(folder.free_bytes) + " free" : style.Red("not writable")));
  }
  return text;
}

std::string AdviceText(const std::vector<Advice>& advice, const Style& style) {
  if (advice.empty()) return style.Bold("Missing") + "\n  nothing\n";
  std::string text = style.Bold("Missing, what it is for, and how to get it") + "\n";
  for (const Advice& item : advice) {
    const std::string name = item.required ? style.Red(item.missing) : style.Yellow(item.missing);
    text += fmt::format("  {}: {}\n      {}\n", name, item.gives, item.command);
  }
  return text;
}

std::string ReadyText(const Readiness& ready, const Style& style) {
  if (!ready.cpu) return style.Red("Not ready") + ": no candidate can be judged here yet.\n";
  std::string targets = "cpu";
  if (ready.cuda) targets += ", cuda";
  if (ready.triton) targets += ", triton";
  if (!ready.triton && ready.triton_interpreter) targets += ", triton (correctness only, in its interpreter)";
  return style.Green("Ready") + " to judge: " + targets + "\n";
}

Result<int> RunDoctor(const DoctorOptions& options) {
  const DoctorFacts facts = GatherFacts(options.python);
  if (options.json) {
    fmt::print("{}\n", DumpJson(DoctorJson(facts), 2));
  } else {
    fmt::print("{}", DoctorText(facts, Style(stdout)));
  }
  return ReadinessOf(facts).cpu ? kExitAccepted : kExitCannot;
}

}  // namespace

std::string DoctorText(const DoctorFacts& facts, const Style& style) {
  return MachineText(facts, style) + PythonText(facts, style) + ToolsText(facts, style) +
         PlaceText(facts, style) + AdviceText(AdviceFor(facts), style) + ReadyText(ReadinessOf(facts), style);
}

OrderedJson DoctorJson(const DoctorFacts& facts) {
  const Readiness ready = ReadinessOf(facts);
  OrderedJson json;
  json["version"] = HONE_VERSION;
  json["ready"] = {{"cpu", ready.cpu},
                   {"cuda", ready.cuda},
                   {"triton", ready.triton},
                   {"triton_interpreter", ready.triton_interpreter}};
  json["cpu"] = {{"model", facts.cpu.model},
                 {"architecture", facts.cpu.architecture},
                 {"cores", facts.cpu.cores},
                 {"features", facts.cpu.features},
                 {"memory_bytes", facts.cpu.memory_bytes},
                 {"memory_available_bytes", facts.cpu.memory_available_bytes}};
  json["gpus"] = OrderedJson::array();
  for (const GpuFacts& gpu : facts.gpus) {
    json["gpus"].push_back({{"name", gpu.name},
                            {"driver", gpu.driver},
                            {"compute_capability", gpu.compute_capability},
                            {"memory_bytes", gpu.memory_bytes}});
  }
  json["gpu_without_driver"] = facts.gpu_without_driver;
  json["python"] = nullptr;
  if (facts.python) {
    const PythonInfo& python = *facts.python;
    json["python"] = {{"program", python.program.string()}, {"chosen_by", python.chosen_by},
                      {"version", python.version},          {"torch", python.torch_version},
                      {"torch_cuda", python.torch_cuda},    {"triton", python.triton_version}};
  } else {
    json["python_error"] = facts.python_error;
  }
  json["tools"] = OrderedJson::object();
  for (const ToolFacts& tool : facts.tools) {
    json["tools"][tool.name] = nullptr;
    if (!tool.path.empty())
      json["tools"][tool.name] = {{"path", tool.path.string()}, {"version", tool.version}};
  }
  json["sandbox"] = Describe(facts.sandbox);
  json["folders"] = OrderedJson::object();
  for (const FolderFacts& folder : facts.folders) {
    json["folders"][folder.role] = {
        {"path", folder.path.string()}, {"writable", folder.writable}, {"free_bytes", folder.free_bytes}};
  }
  json["missing"] = OrderedJson::array();
  for (const Advice& item : AdviceFor(facts)) {
    json["missing"].push_back({{"what", item.missing},
                               {"gives", item.gives},
                               {"command", item.command},
                               {"required", item.required}});
  }
  return json;
}

void AddDoctorCommand(CommandTable& table) {
  Command& command =
      table.Add("doctor", "Check this machine: what is installed, what is missing, how to get it");
  auto options = std::make_shared<DoctorOptions>();
  command.Add("--json", &options->json, "Print the facts as JSON");
  command.Add("--python", &options->python, "Check this interpreter instead of the one Hone would choose")
      .Placeholder("PATH");
  command.Note("Exit code: 0 when Hone can judge on this CPU, 3 when it cannot.");
  command.Example("hone doctor");
  command.Example("hone doctor --json | jq .missing", "what to install, for a script");
  command.Example("hone doctor --python ~/venv/bin/python3", "check another interpreter");
  command.Runs([options] { return RunDoctor(*options); });
}

}  // namespace hone
