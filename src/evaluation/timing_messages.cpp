#include "evaluation/timing_messages.h"

namespace hone {

FieldList DrawReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&DrawReply::bases>("bases"),
      FieldFor<&DrawReply::layout>("layout", kMayLack),
      FieldFor<&DrawReply::trees>("trees", kMayLack),
      FieldFor<&DrawReply::total>("total", kMayLack),
  };
  return kFields;
}

FieldList DrawRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&DrawRequest::seeds>("seeds"),
      FieldFor<&DrawRequest::hold>("hold", kMayLack),
  };
  return kFields;
}

FieldList BlockReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&BlockReply::event_us>("event_us", kHint),
      FieldFor<&BlockReply::answers>("answers", kHint),
      FieldFor<&BlockReply::numbers>("numbers", kHint),
      FieldFor<&BlockReply::odd>("odd", kHint),
  };
  return kFields;
}

FieldList BlockRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&BlockRequest::slot>("slot"),
      FieldFor<&BlockRequest::bytes>("bytes"),
      FieldFor<&BlockRequest::on_device>("on_device"),
      FieldFor<&BlockRequest::bases>("bases"),
      FieldFor<&BlockRequest::calls>("calls"),
      FieldFor<&BlockRequest::rung>("rung"),
      FieldFor<&BlockRequest::mode>("mode"),
      FieldFor<&BlockRequest::seed>("seed"),
      FieldFor<&BlockRequest::flush>("flush"),
      FieldFor<&BlockRequest::form>("form", kMayLack),
      FieldFor<&BlockRequest::layout>("layout", kMayLack),
      FieldFor<&BlockRequest::trees>("trees", kMayLack),
  };
  return kFields;
}

FieldList CollectReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&CollectReply::numbers>("numbers", kHint),
      FieldFor<&CollectReply::odd>("odd", kHint),
  };
  return kFields;
}

FieldList CollectRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&CollectRequest::slot>("slot"),
      FieldFor<&CollectRequest::form>("form"),
      FieldFor<&CollectRequest::leaves>("leaves"),
      FieldFor<&CollectRequest::stride>("stride"),
      FieldFor<&CollectRequest::bytes>("bytes"),
      FieldFor<&CollectRequest::on_device>("on_device"),
      FieldFor<&CollectRequest::place>("place", kMayLack),
  };
  return kFields;
}

FieldList ClearReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&ClearReply::reused>("reused", kHint),
  };
  return kFields;
}

FieldList ClearRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&ClearRequest::slot>("slot"),
      FieldFor<&ClearRequest::rung>("rung"),
      FieldFor<&ClearRequest::mode>("mode"),
      FieldFor<&ClearRequest::end>("end", kMayLack),
  };
  return kFields;
}

FieldList CallsRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&CallsRequest::slot>("slot"),
      FieldFor<&CallsRequest::inputs>("inputs"),
      FieldFor<&CallsRequest::count>("count"),
      FieldFor<&CallsRequest::rung>("rung"),
  };
  return kFields;
}

FieldList KeepSampleRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&KeepSampleRequest::slot>("slot"),
      FieldFor<&KeepSampleRequest::inputs>("inputs"),
  };
  return kFields;
}

FieldList ForkRequest::Fields() {
  return {};
}

FieldList StatusReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&StatusReply::running>("running", kHint),
      FieldFor<&StatusReply::code>("code", kHint),
      FieldFor<&StatusReply::signal>("signal", kHint),
  };
  return kFields;
}

FieldList StatusRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&StatusRequest::fork>("fork"),
  };
  return kFields;
}

FieldList ImportRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&ImportRequest::libraries>("libraries"),
  };
  return kFields;
}

FieldList JoinRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&JoinRequest::descriptors>("descriptors"), FieldFor<&JoinRequest::nested>("nested"),
      FieldFor<&JoinRequest::folder>("folder"),           FieldFor<&JoinRequest::environment>("environment"),
      FieldFor<&JoinRequest::filter>("filter"),           FieldFor<&JoinRequest::seccomp>("seccomp"),
      FieldFor<&JoinRequest::limits>("limits"),
  };
  return kFields;
}

}  // namespace hone
