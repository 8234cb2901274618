// Sends trees of tensors to workers and receives them. Without a device plane, the values are passed in
// sealed memory files. With one they stay on the device: the worker describes its tensors and keeps them, the
// parent allocates memory, and the worker copies them into it.
#pragma once

#include <string>
#include <vector>

#include "evaluation/run_messages.h"
#include "evaluation/tree_values.h"
#include "evaluation/worker.h"

namespace hone {

template <class Request>
struct TreeAnswer : Exchange {
  typename Request::Reply body = {};
  TensorTree tree;  // its description is null if the reply has none
};

struct TreeWish {
  std::string root;                        // prefix of the leaves' paths
  double seconds = 600;                    // deadline
  size_t most_bytes = size_t{1} << 46;     // a tree that needs more is returned without values
  bool trim = false;                       // make the worker return unused memory
  std::vector<int> more_descriptors = {};  // for values besides the tree, if there is no plane
};

// Fetches the tensors that the worker holds. If the worker fails, sets the exchange's failure.
Result<TensorTree> FetchTree(WorkerProcess& worker, DevicePlane& plane, const Json& description,
                             const TreeWish& wish, Exchange* exchange);

// Request has a reply with a tree, and a member `hold`.
template <class Request>
Result<TreeAnswer<Request>> AskForTree(WorkerProcess& worker, DevicePlane* plane, Request request,
                                       const TreeWish& wish) {
  TreeAnswer<Request> answer;
  SharedBlob blob;
  std::vector<int> descriptors;
  request.hold = plane != nullptr;
  if (plane == nullptr) {
    HONE_ASSIGN_OR_RETURN(blob, SharedBlob::Create(wish.root));
    descriptors = {blob.fd()};
    descriptors.insert(descriptors.end(), wish.more_descriptors.begin(), wish.more_descriptors.end());
  }
  HONE_ASSIGN_OR_RETURN(auto reply, worker.Call(request, descriptors, wish.seconds));
  static_cast<Exchange&>(answer) = reply;
  if (!reply.ok()) return answer;
  answer.body = std::move(reply.body);
  if (answer.body.tree.is_null()) return answer;
  Result<TensorTree> tree = plane != nullptr ? FetchTree(worker, *plane, answer.body.tree, wish, &answer)
                                             : ParseTree(answer.body.tree, std::move(blob), wish.root);
  if (tree.ok())
    answer.tree = std::move(*tree);
  else if (tree.error().kind == ErrorKind::kInvalid)
    answer.failure = WorkerFailure{FailureKind::kProtocol, "", tree.error().message, ""};
  else
    return std::move(tree).error();
  return answer;
}

// The same for the reference, whose failure is an Error.
template <class Request>
Result<TreeAnswer<Request>> RequireTree(WorkerProcess& worker, DevicePlane* plane, const Request& request,
                                        const TreeWish& wish) {
  HONE_ASSIGN_OR_RETURN(TreeAnswer<Request> answer, AskForTree(worker, plane, request, wish));
  if (!answer.ok()) return WorkerProcess::ErrorOf(*answer.failure);
  return answer;
}

// Inputs as a worker received them on the device. The worker may change them, and the parent can read them.
struct PlacedInputs {
  std::vector<TensorLeaf> leaves;
  std::shared_ptr<DeviceValues> values;
};

// Gives a worker inputs under a name. On the device they get their own memory. With `in_place` they reuse the
// memory of `placed` if the layout is the same. `placed` may be null if the inputs are not read afterwards.
Result<WorkerReply<Nothing>> PutTree(WorkerProcess& worker, const std::string& name, const TensorTree& tree,
                                     bool in_place, double seconds, PlacedInputs* placed);

}  // namespace hone
