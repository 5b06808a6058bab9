#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"
#include "runtime/custom_old.h"
#include "runtime/custom_path.h"

namespace apiserver::inline v0::runtime {

// Visits the values of a custom object that have a schema, in document order, without its metadata.
// Iterative.
class CustomWalk {
 public:
  // Calls `visit(schema, value)` for the root and all below it. It may call Path(), and returns
  // false to pass by what is below the value.
  template <class Visit>
  void Run(const Schema& schema, const Value& root, Visit visit) {
    Enter(schema, root, visit);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.next == frame.value->size()) {
        frames_.pop_back();
        continue;
      }
      const Value* child = nullptr;
      const Schema* const below = Next(frame, child);
      if (below != nullptr) Enter(*below, *child, visit);
    }
  }

  // Returns the path of the visited value as apimachinery's field.Path writes it: "spec.map[key]".
  field::Path Path() const {
    std::string path;
    // The visited value may have no frame yet.
    for (const Frame& frame : frames_) {
      if (frame.step.kind == CustomStep::Kind::kNone) break;
      if (path.size() > field::kTextBytesMax) break;
      Append(frame.step, path);
    }
    return field::Path(std::move(path));
  }

 private:
  struct Frame {
    const Schema* schema;
    const Value* value;
    std::size_t next = 0;
    CustomStep step;  // To the child that is visited.
  };

  template <class Visit>
  void Enter(const Schema& schema, const Value& value, Visit& visit) {
    if (visit(schema, value) && (value.is_map() || value.is_list()) && value.size() > 0) {
      frames_.push_back({&schema, &value, 0, {}});
    }
  }

  // Goes on to the next child. Returns its schema; null: it has none.
  const Schema* Next(Frame& frame, const Value*& child) {
    const std::size_t at = frame.next++;
    if (frame.value->is_list()) {
      child = &frame.value->items()[at];
      frame.step = {CustomStep::Kind::kItem, {}, at};
      return CustomItems(*frame.schema);
    }
    const Member& member = frame.value->members()[at];
    child = &member.value;
    if (frames_.size() == 1 && member.key == "metadata") return nullptr;
    bool additional = false;
    const Schema* const schema = CustomMember(*frame.schema, member.key, additional);
    const auto kind = additional ? CustomStep::Kind::kAdditional : CustomStep::Kind::kField;
    frame.step = {kind, member.key, 0};
    return schema;
  }

  static void Append(const CustomStep& step, std::string& path) {
    switch (step.kind) {
      case CustomStep::Kind::kItem:
        path.append("[").append(std::to_string(step.index)).append("]");
        return;
      case CustomStep::Kind::kAdditional:
        path.append("[").append(field::Shorten(step.name)).append("]");
        return;
      default:
        if (!path.empty()) path += '.';
        path += field::Shorten(step.name);
    }
  }

  std::vector<Frame> frames_;
};

}  // namespace apiserver::inline v0::runtime
