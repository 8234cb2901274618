#include "cli/serve_command.h"

#include <fmt/format.h>

#include "base/interrupt.h"
#include "cli/common.h"
#include "dashboard/dashboard.h"
#include "dashboard/pages.h"
#include "model/url.h"

namespace hone {

namespace {

struct ServeFlags {
  HttpServerOptions server;
  std::vector<std::string> hosts;
  bool allow_actions = false;
};

std::string Address(const std::string& bind, int port, const std::string& token) {
  const bool any = bind == "0.0.0.0" || bind == "::";
  const std::string host = any ? "localhost" : bind.find(':') != std::string::npos ? "[" + bind + "]" : bind;
  return fmt::format("http://{}:{}/{}", host, port, token.empty() ? "" : "?token=" + token);
}

Result<int> Serve(const ServeFlags& flags) {
  const fs::path path = DataFolder() / "hone.db";
  // Makes the store or brings it to this version; from here on it is only read.
  HONE_RETURN_IF_ERROR(RunStore::Open(path));
  AccessRules rules = RulesFor(flags.server.bind, flags.hosts, flags.allow_actions);
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<HttpServer> server, HttpServer::Listen(flags.server));
  const std::string address = Address(flags.server.bind, server->port(), rules.token);
  Dashboard dashboard(path, std::move(rules));
  LiveHub hub(path, RunRenderer());
  dashboard.CountWith(server.get(), &hub);
  fmt::print("{}\n", address);
  std::fflush(stdout);
  fmt::print(stderr, "hone: showing {}; Ctrl-C ends it\n", path.string());
  server->Run([&dashboard](const HttpRequest& request) { return dashboard.Handle(request); }, hub);
  const size_t ended = dashboard.actions().Shutdown();
  if (ended > 0)
    fmt::print(stderr, "hone: stopped {} run{} started here; `hone resume` goes on\n", ended,
               ended == 1 ? "" : "s");
  return 0;
}

}  // namespace

void AddServeCommand(CLI::App& app, int* exit_code) {
  CLI::App* command = app.add_subcommand("serve", "Runs, live, in a browser: a dashboard on 127.0.0.1");
  auto flags = std::make_shared<ServeFlags>();
  command->add_option("--port", flags->server.port, "Port; 0 takes one that is free")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command
      ->add_option("--bind", flags->server.bind,
                   "Address to listen on; anything but this machine's own makes a token part of the address")
      ->capture_default_str();
  command->add_option("--allow-host", flags->hosts,
                      "Another name by which browsers reach it (behind a proxy)");
  command->add_flag("--allow-actions", flags->allow_actions, "Start, stop and resume runs from the page");
  command->footer(
      "Prints the address on stdout. Reads the store and never writes to it.\n"
      "Examples:\n  hone serve\n  hone serve --port 0 --allow-actions\n  hone serve --bind 0.0.0.0\n"
      "  curl -s http://127.0.0.1:8377/api/runs | jq '.runs[0]'");
  command->callback([flags, exit_code] {
    const Result<int> code = Serve(*flags);
    *exit_code = code.ok() ? *code : Report(code.error());
  });
}

}  // namespace hone
