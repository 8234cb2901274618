// Starts threads where a machine may have none left for a moment: a candidate that starts thousands is
// stopped within a fraction of a second, and then there are threads again.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace hone {

constexpr std::chrono::seconds kThreadPatience{10};

// Calls `start` until it does not fail for lack of a thread. Throws what `start` throws at the end of the
// patience, and everything else at once.
template <class Start>
auto RetryForThread(Start start, std::chrono::milliseconds patience = kThreadPatience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    try {
      return start();
    } catch (const std::system_error& error) {
      if (error.code() != std::errc::resource_unavailable_try_again ||
          std::chrono::steady_clock::now() >= end)
        throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

template <class Body>
std::thread StartThread(Body body) {
  const auto shared = std::make_shared<Body>(std::move(body));  // a thread that fails to start loses its copy
  return RetryForThread([&] { return std::thread([shared] { (*shared)(); }); });
}

// As std::async, on a thread of its own: the future waits for it.
template <class Body>
auto StartAsync(Body body) {
  const auto shared = std::make_shared<Body>(std::move(body));
  return RetryForThread([&] { return std::async(std::launch::async, [shared] { return (*shared)(); }); });
}

}  // namespace hone
