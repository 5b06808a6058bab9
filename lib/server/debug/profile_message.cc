#include "server/debug/profile_message.h"

#include <utility>

#include "codec/protobuf_wire.h"
#include "server/debug/perf_events.h"

namespace apiserver::v0::server::debug {

namespace {

namespace wire = codec::wire;

// The numbers of fields, by message.
struct ProfileFields {
  enum : int {
    kSampleType = 1,
    kSample = 2,
    kMapping = 3,
    kLocation = 4,
    kStringTable = 6,
    kTimeNanos = 9,
    kDurationNanos = 10,
    kPeriodType = 11,
    kPeriod = 12,
    kComment = 13
  };
};
struct ValueTypeFields {
  enum : int { kType = 1, kUnit = 2 };
};
struct SampleFields {
  enum : int { kLocationId = 1, kValue = 2, kLabel = 3 };
};
struct LabelFields {
  enum : int { kKey = 1, kText = 2 };
};
struct MappingFields {
  enum : int { kId = 1, kStart = 2, kLimit = 3, kFileOffset = 4, kFileName = 5, kBuildId = 6 };
};
struct LocationFields {
  enum : int { kId = 1, kMappingId = 2, kAddress = 3 };
};

void PutUnsigned(int number, std::uint64_t value, std::string& out) {
  wire::PutInt(number, static_cast<std::int64_t>(value), out);
}

}  // namespace

ProfileMessage::ProfileMessage(std::vector<LoadedObject> objects) : objects_(std::move(objects)) {
  StringIndex("");  // The first string must be empty.
  PutValueType(ProfileFields::kSampleType, "samples", "count");
  PutValueType(ProfileFields::kSampleType, "cpu", "nanoseconds");
}

std::size_t ProfileMessage::ObjectOf(std::uint64_t address) const {
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    if (address >= objects_[i].begin && address < objects_[i].end) return i + 1;
  }
  return 0;
}

std::uint64_t ProfileMessage::LocationId(std::uint64_t address, std::size_t object) {
  // An address is one location, however many stacks it occurs in.
  return locations_.try_emplace(address, Location{locations_.size() + 1, object}).first->second.id;
}

// The format refers to texts by their index, so that each is written once.
std::int64_t ProfileMessage::StringIndex(std::string_view text) {
  if (const auto found = string_index_.find(text); found != string_index_.end()) {
    return found->second;
  }
  const auto index = static_cast<std::int64_t>(strings_.size());
  strings_.emplace_back(text);
  string_index_.emplace(text, index);
  return index;
}

void ProfileMessage::PutValueType(int number, std::string_view type, std::string_view unit) {
  wire::Nested value_type(number, message_);
  wire::PutInt(ValueTypeFields::kType, StringIndex(type), message_);
  wire::PutInt(ValueTypeFields::kUnit, StringIndex(unit), message_);
  value_type.Close();
}

void ProfileMessage::AddSample(std::string_view thread_name,
                               const std::vector<std::uint64_t>& stack, std::int64_t count) {
  wire::Nested sample(ProfileFields::kSample, message_);
  wire::Nested ids(SampleFields::kLocationId, message_);
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const std::size_t object = ObjectOf(stack[i]);
    // The innermost address is kept even outside of all known code; a caller there ends the stack.
    if (object == 0 && i > 0) break;
    wire::PutVarint(LocationId(stack[i], object), message_);
  }
  ids.Close();
  wire::Nested values(SampleFields::kValue, message_);
  wire::PutVarint(static_cast<std::uint64_t>(count), message_);
  wire::PutVarint(static_cast<std::uint64_t>(count * kSamplePeriodNanoseconds), message_);
  values.Close();
  wire::Nested label(SampleFields::kLabel, message_);
  wire::PutInt(LabelFields::kKey, StringIndex("thread"), message_);
  wire::PutInt(LabelFields::kText, StringIndex(thread_name), message_);
  label.Close();
  sample.Close();
}

// The build id lets `go tool pprof` find the symbols of a program that was stripped.
void ProfileMessage::PutObjects() {
  std::uint64_t id = 0;
  for (const LoadedObject& object : objects_) {
    wire::Nested mapping(ProfileFields::kMapping, message_);
    PutUnsigned(MappingFields::kId, ++id, message_);
    PutUnsigned(MappingFields::kStart, object.begin, message_);
    PutUnsigned(MappingFields::kLimit, object.end, message_);
    PutUnsigned(MappingFields::kFileOffset, object.file_offset, message_);
    wire::PutInt(MappingFields::kFileName, StringIndex(object.file), message_);
    wire::PutInt(MappingFields::kBuildId, StringIndex(object.build_id), message_);
    mapping.Close();
  }
}

void ProfileMessage::PutLocations() {
  for (const auto& [address, location] : locations_) {
    wire::Nested nested(ProfileFields::kLocation, message_);
    PutUnsigned(LocationFields::kId, location.id, message_);
    PutUnsigned(LocationFields::kMappingId, location.object, message_);
    PutUnsigned(LocationFields::kAddress, address, message_);
    nested.Close();
  }
}

void ProfileMessage::PutStrings() {
  for (const std::string& text : strings_)
    wire::PutBytes(ProfileFields::kStringTable, text, message_);
}

std::string ProfileMessage::Finish(const Facts& facts) && {
  PutObjects();
  PutLocations();
  wire::PutInt(ProfileFields::kTimeNanos, facts.began_nanoseconds, message_);
  wire::PutInt(ProfileFields::kDurationNanos, facts.lasted_nanoseconds, message_);
  PutValueType(ProfileFields::kPeriodType, "cpu", "nanoseconds");
  wire::PutInt(ProfileFields::kPeriod, kSamplePeriodNanoseconds, message_);
  for (const std::string& remark : facts.remarks) {
    wire::PutInt(ProfileFields::kComment, StringIndex(remark), message_);
  }
  PutStrings();
  return std::move(message_);
}

}  // namespace apiserver::v0::server::debug
