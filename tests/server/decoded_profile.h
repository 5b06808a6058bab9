#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "gunzip.h"

// What a pprof profile says, read by nothing that writes one.
namespace apiserver::inline v0::testing {

// The fields of a protobuf message, by number; packed and nested ones are text.
struct RawMessage {
  explicit RawMessage(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::uint64_t tag = TakeVarint(bytes);
      const auto number = static_cast<int>(tag >> 3U);
      if ((tag & 7U) == 0) {
        numbers[number].push_back(TakeVarint(bytes));
      } else if ((tag & 7U) == 2) {
        const std::size_t size = TakeVarint(bytes);
        if (size > bytes.size()) throw std::runtime_error("a field ends after its message");
        texts[number].emplace_back(bytes.substr(0, size));
        bytes.remove_prefix(size);
      } else {
        throw std::runtime_error("a profile has no fields of fixed size");
      }
    }
  }

  static std::uint64_t TakeVarint(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (bytes.empty() || shift > 63) throw std::runtime_error("no varint");
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 127U) << shift;
      if (byte < 128) return value;
    }
  }
  static std::vector<std::uint64_t> Unpack(std::string_view bytes) {
    std::vector<std::uint64_t> all;
    while (!bytes.empty()) all.push_back(TakeVarint(bytes));
    return all;
  }
  std::uint64_t Number(int number) const {
    return numbers.contains(number) ? numbers.at(number).at(0) : 0;
  }

  std::map<int, std::vector<std::uint64_t>> numbers;
  std::map<int, std::vector<std::string>> texts;
};

struct DecodedProfile {
  struct Mapping {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t file_offset = 0;
    std::string file;
    std::string build_id;
  };
  struct Frame {
    std::uint64_t address = 0;
    Mapping mapping;  // Empty: none.
  };
  struct Sample {
    std::vector<Frame> stack;
    std::uint64_t count = 0;
    std::uint64_t nanoseconds = 0;
    std::string thread;
  };

  // Of what is served.
  static DecodedProfile OfGzip(const std::string& bytes) {
    Gunzip gunzip;
    std::string message = gunzip.Add(bytes);
    if (gunzip.bad() || !gunzip.ended()) throw std::runtime_error("that is no gzip");
    return DecodedProfile(message);
  }

  explicit DecodedProfile(std::string_view message) {
    const RawMessage profile(message);
    const auto all = [&profile](int number) {
      return profile.texts.contains(number) ? profile.texts.at(number) : std::vector<std::string>();
    };
    strings = all(6);
    for (const std::string& bytes : all(1)) sample_types.push_back(Type(bytes));
    std::map<std::uint64_t, Mapping> by_id;
    for (const std::string& bytes : all(3)) {
      const RawMessage raw(bytes);
      mappings.push_back({raw.Number(2), raw.Number(3), raw.Number(4), strings.at(raw.Number(5)),
                          strings.at(raw.Number(6))});
      by_id[raw.Number(1)] = mappings.back();
    }
    std::map<std::uint64_t, Frame> frames;
    for (const std::string& bytes : all(4)) {
      const RawMessage raw(bytes);
      frames[raw.Number(1)] = {raw.Number(3),
                               raw.Number(2) == 0 ? Mapping() : by_id.at(raw.Number(2))};
    }
    for (const std::string& bytes : all(2)) {
      const RawMessage raw(bytes);
      const std::vector<std::uint64_t> values = RawMessage::Unpack(raw.texts.at(2).at(0));
      const RawMessage label(raw.texts.at(3).at(0));
      if (strings.at(label.Number(1)) != "thread") throw std::runtime_error("an unknown label");
      Sample sample{{}, values.at(0), values.at(1), strings.at(label.Number(2))};
      for (const std::uint64_t id : RawMessage::Unpack(raw.texts.at(1).at(0))) {
        sample.stack.push_back(frames.at(id));
      }
      samples.push_back(sample);
    }
    time_nanos = profile.Number(9);
    duration_nanos = profile.Number(10);
    period_type = Type(all(11).at(0));
    period = profile.Number(12);
    if (profile.numbers.contains(13)) {
      for (const std::uint64_t i : profile.numbers.at(13)) comments.push_back(strings.at(i));
    }
  }

  std::string Type(std::string_view bytes) const {
    const RawMessage raw(bytes);
    return strings.at(raw.Number(1)) + "/" + strings.at(raw.Number(2));
  }

  std::vector<std::string> strings;
  std::vector<std::string> sample_types;
  std::vector<Mapping> mappings;
  std::vector<Sample> samples;
  std::uint64_t time_nanos = 0;
  std::uint64_t duration_nanos = 0;
  std::string period_type;
  std::uint64_t period = 0;
  std::vector<std::string> comments;
};

}  // namespace apiserver::inline v0::testing
