#include <fmt/format.h>

#include "base/interrupt.h"
#include "cli/commands.h"
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
  fmt::print(stderr, "hone: serving {}; Ctrl-C stops the server\n", path.string());
  server->Run([&dashboard](const HttpRequest& request) { return dashboard.Handle(request); }, hub);
  const size_t ended = dashboard.actions().Shutdown();
  if (ended > 0)
    fmt::print(stderr, "hone: stopped {} run{} started from the page; `hone resume` continues\n", ended,
               ended == 1 ? "" : "s");
  return 0;
}

}  // namespace

void AddServeCommand(CommandTable& table) {
  Command& command = table.Add("serve", "Serve a live dashboard of all runs on 127.0.0.1");
  auto flags = std::make_shared<ServeFlags>();
  command.Add("--port", &flags->server.port, "Port to listen on; 0 picks a free one").Between(0, 65535);
  command
      .Add(
          "--bind", &flags->server.bind,
          "Address to listen on; every address except loopback requires the token that the printed URL holds")
      .Placeholder("ADDRESS");
  command
      .Add("--allow-host", &flags->hosts,
           "Host name that browsers may use to reach the server, such as a proxy's; may be repeated")
      .Placeholder("NAME");
  command.Add("--allow-actions", &flags->allow_actions, "Allow the page to start, stop and resume runs");
  command.Note("The URL is printed on standard output. Ctrl-C ends the server.");
  command.Note(
      "Pages read the store and can change the tags and notes of runs. With --allow-actions they can also "
      "start, stop and resume runs.");
  command.Example("hone serve");
  command.Example("hone serve --port 0 --allow-actions");
  command.Example("hone serve --bind 0.0.0.0");
  command.Example("curl -s http://127.0.0.1:8377/api/runs | jq '.runs[0]'");
  command.Runs([flags] { return Serve(*flags); });
}

}  // namespace hone
