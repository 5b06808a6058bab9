#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/runtime/time.h"
#include "flowcontrol/controller_state.h"

namespace apiserver::v0::flowcontrol {

namespace {

// Rows of cells, laid out as Go's text/tabwriter does with a minimal width of 8, a padding of one
// blank, and ",\t" between cells.
class CommaTable {
 public:
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string ToString() const {
    // Two passes: the width of a column is known only after its last row.
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()), 8);
      for (std::size_t i = 0; i < row.size(); ++i) {
        // The width includes the comma and the blank.
        widths[i] = std::max(widths[i], Characters(row[i]) + 2);
      }
    }
    std::string text;
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i + 1 < row.size(); ++i) {
        text += row[i];
        text += ',';
        text.append(widths[i] - Characters(row[i]) - 1, ' ');
      }
      text += row.back();
      text += '\n';
    }
    return text;
  }

 private:
  static std::size_t Characters(std::string_view text) {
    // Go counts runes, so continuation bytes do not count.
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    }));
  }

  std::vector<std::vector<std::string>> rows_;
};

const char* Bool(bool value) { return value ? "true" : "false"; }

// Converts the requests' monotonic times to wall times for people.
class WallTimes {
 public:
  explicit WallTimes(const Clock& clock) : now_(clock.Now()), wall_(clock.WallNow()) {}

  // Formats as Go's time.RFC3339Nano in UTC.
  std::string Format(Clock::Monotonic time) const {
    const auto wall = runtime::UnixTime::From(
        wall_ - std::chrono::duration_cast<Clock::Wall::duration>(now_ - time));
    std::string text = runtime::FormatTime(wall);
    if (wall.nanos == 0) return text;
    std::string fraction = std::to_string(wall.nanos);
    fraction.insert(0, 9 - fraction.size(), '0');
    fraction.erase(fraction.find_last_not_of('0') + 1);
    text.insert(text.size() - 1, "." + fraction);
    return text;
  }

 private:
  Clock::Monotonic now_;
  Clock::Wall wall_;
};

const char* const kNever = "0001-01-01T00:00:00Z";

// The place of a request; -1: it is in no queue.
struct QueuePlace {
  int queue = -1;
  int index = -1;
};

std::vector<std::string> RequestRow(const std::string& level, QueuePlace place,
                                    const RequestDump& request, const WallTimes& times,
                                    bool with_details) {
  std::vector<std::string> row = {level,
                                  request.flow_schema,
                                  std::to_string(place.queue),
                                  std::to_string(place.index),
                                  request.flow_distinguisher,
                                  times.Format(request.arrived),
                                  std::to_string(request.work.initial_seats),
                                  std::to_string(request.work.final_seats),
                                  runtime::FormatDuration(request.work.additional_latency),
                                  request.started ? times.Format(*request.started) : kNever};
  if (!with_details) return row;
  for (const std::string* each :
       {&request.user, &request.verb, &request.path, &request.namespace_, &request.name,
        &request.api_version, &request.resource, &request.subresource}) {
    row.push_back(*each);
  }
  return row;
}

// Requests in queues come first, by queue, then those that execute without one; -1 is no index.
void AddRequests(const std::string& level, const QueueSetDump& dump, const WallTimes& times,
                 bool with_details, CommaTable& table) {
  for (std::size_t q = 0; q < dump.queues.size(); ++q) {
    const QueueDump& queue = dump.queues[q];
    const int queue_index = static_cast<int>(q);
    for (std::size_t r = 0; r < queue.waiting.size(); ++r) {
      table.Add(RequestRow(level, {queue_index, static_cast<int>(r)}, queue.waiting[r], times,
                           with_details));
    }
    for (const RequestDump& each : queue.executing) {
      table.Add(RequestRow(level, {queue_index, -1}, each, times, with_details));
    }
  }
  for (const RequestDump& each : dump.executing_without_queue) {
    table.Add(RequestRow(level, {}, each, times, with_details));
  }
}

}  // namespace

// The tables of /debug/api_priority_and_fairness. Each level is locked by itself, so that rows of
// two levels may be of slightly different times.
std::string Controller::DumpPriorityLevels() const {
  CommaTable table;
  table.Add({"PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests",
             "ExecutingRequests", "DispatchedRequests", "RejectedRequests", "TimedoutRequests",
             "CancelledRequests"});
  const auto state = state_.Lock();
  for (const auto& [name, level] : (*state)->levels) {
    const QueueSetDump dump = level.queues->Dump(false);
    const auto active =
        std::count_if(dump.queues.begin(), dump.queues.end(),
                      [](const QueueDump& queue) { return !queue.waiting.empty(); });
    table.Add({name, std::to_string(active), Bool(dump.waiting == 0 && dump.executing == 0),
               Bool(level.quiescing), std::to_string(dump.waiting), std::to_string(dump.executing),
               std::to_string(dump.dispatched), std::to_string(dump.rejected),
               std::to_string(dump.timed_out), std::to_string(dump.cancelled)});
  }
  return table.ToString();
}

std::string Controller::DumpQueues() const {
  CommaTable table;
  table.Add({"PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse",
             "NextDispatchR", "InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum"});
  const auto state = state_.Lock();
  for (const auto& [name, level] : (*state)->levels) {
    const QueueSetDump dump = level.queues->Dump(false);
    for (std::size_t i = 0; i < dump.queues.size(); ++i) {
      const QueueDump& queue = dump.queues[i];
      table.Add({name, std::to_string(i), std::to_string(queue.waiting.size()),
                 std::to_string(queue.executing.size()), std::to_string(queue.seats_in_use),
                 FormatSeatSeconds(queue.next_dispatch_r), std::to_string(queue.initial_seats_sum),
                 std::to_string(queue.max_seats_sum), FormatSeatSeconds(queue.total_work_sum)});
    }
  }
  return table.ToString();
}

std::string Controller::DumpRequests(bool with_details) const {
  CommaTable table;
  // "FlowDistingsher" is upstream's spelling.
  std::vector<std::string> header = {
      "PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher",
      "ArriveTime",        "InitialSeats",   "FinalSeats", "AdditionalLatency",   "StartTime"};
  if (with_details) {
    for (const char* each : {"UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion",
                             "Resource", "SubResource"}) {
      header.emplace_back(each);
    }
  }
  table.Add(std::move(header));
  const WallTimes times(*options_.clock);
  const auto state = state_.Lock();
  for (const auto& [name, level] : (*state)->levels) {
    AddRequests(name, level.queues->Dump(with_details), times, with_details, table);
  }
  return table.ToString();
}

}  // namespace apiserver::v0::flowcontrol
