#include "evaluation/setup_messages.h"

namespace hone {

FieldList HelloReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&HelloReply::facts>("facts"),
  };
  return kFields;
}

FieldList HelloRequest::Fields() {
  return {};
}

FieldList ThreadsRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&ThreadsRequest::count>("count"),
  };
  return kFields;
}

FieldList LoadReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&LoadReply::has_class>("has_class", kMayLack),
      FieldFor<&LoadReply::names>("names", kHint),
      FieldFor<&LoadReply::variants>("variants", kMayLack),
      FieldFor<&LoadReply::has_stress>("has_stress", kMayLack),
  };
  return kFields;
}

FieldList LoadRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&LoadRequest::path>("path"),
      FieldFor<&LoadRequest::name>("name"),
      FieldFor<&LoadRequest::class_name>("class"),
  };
  return kFields;
}

FieldList InitInputsReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&InitInputsReply::tree>("tree"),
      FieldFor<&InitInputsReply::opaque>("opaque"),
  };
  return kFields;
}

FieldList InitInputsRequest::Fields() {
  return {};
}

FieldList BuildReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&BuildReply::beside>("beside", kMayLack),
  };
  return kFields;
}

FieldList BuildRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&BuildRequest::slot>("slot"),
      FieldFor<&BuildRequest::class_name>("class"),
      FieldFor<&BuildRequest::seed>("seed"),
      FieldFor<&BuildRequest::init>("init", kMayLack),
      FieldFor<&BuildRequest::init_file>("init_file", kMayLack),
  };
  return kFields;
}

FieldList WeightsReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&WeightsReply::names>("names"),
      FieldFor<&WeightsReply::tree>("tree"),
  };
  return kFields;
}

FieldList WeightsRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&WeightsRequest::slot>("slot"),
  };
  return kFields;
}

FieldList TakeWeightsReply::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&TakeWeightsReply::how>("how"),
      FieldFor<&TakeWeightsReply::missing>("missing"),
      FieldFor<&TakeWeightsReply::unexpected>("unexpected"),
  };
  return kFields;
}

FieldList TakeWeightsRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&TakeWeightsRequest::slot>("slot"),
      FieldFor<&TakeWeightsRequest::names>("names"),
      FieldFor<&TakeWeightsRequest::tree>("tree"),
  };
  return kFields;
}

FieldList SnapshotRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&SnapshotRequest::slot>("slot"),
  };
  return kFields;
}

FieldList DropRequest::Fields() {
  static constexpr MessageField kFields[] = {
      FieldFor<&DropRequest::slots>("slots", kMayLack),
      FieldFor<&DropRequest::inputs>("inputs", kMayLack),
  };
  return kFields;
}

}  // namespace hone
