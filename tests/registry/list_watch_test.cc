#include "apiserver/base/progress.h"
#include "apiserver/codec/json.h"
#include "registry/fixture.h"
#include "registry/human_duration.h"
#include "registry/watch_cache_metrics.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Fixture;

namespace {

std::string NamesOf(const Result<runtime::List>& list) {
  if (!list.ok()) return list.status().ToString();
  std::string names;
  for (const auto& item : list->items) {
    names.append(names.empty() ? "" : " ").append(item->name());
  }
  return names;
}

void CreateIn(Fixture& fixture, std::string_view space, std::string_view name,
              std::string_view color = "") {
  fixture.ctx.Set(rest::Namespace{std::string(space)});
  auto object = testing::NewWidget(fixture.kind, name, space);
  if (!color.empty()) object->Edit("spec", "color") = color;
  REQUIRE(fixture.TryCreate(std::move(object)).ok());
}

meta::ListOptions Fields(std::string_view text) {
  meta::ListOptions options;
  options.field_selector = *meta::FieldSelector::Parse(text);
  return options;
}

// Keeps the text of the last report.
class LastReport final : public ProgressSink {
 public:
  explicit LastReport(std::string& text) : text_(text) {}
  void Report(const Progress& progress) override { text_ = progress.ToString(); }

 private:
  std::string& text_;
};

}  // namespace

TEST_CASE("registry: a list holds the namespace of the request, or all", "[registry]") {
  Fixture fixture;
  CreateIn(fixture, "x", "a");
  CreateIn(fixture, "y", "b");
  CHECK(NamesOf(fixture.Store().List(fixture.ctx, {})) == "b");
  fixture.ctx.Set(rest::Namespace{""});
  CHECK(NamesOf(fixture.Store().List(fixture.ctx, {})) == "a b");
}

TEST_CASE("registry: field selectors narrow a list", "[registry]") {
  Fixture fixture;
  CreateIn(fixture, "x", "a", "red");
  CreateIn(fixture, "x", "b", "blue");
  CreateIn(fixture, "y", "a", "blue");
  fixture.ctx.Set(rest::Namespace{""});
  CHECK(NamesOf(fixture.Store().List(fixture.ctx, Fields("metadata.name=a"))) == "a a");
  CHECK(NamesOf(fixture.Store().List(fixture.ctx, Fields("metadata.namespace=x"))) == "a b");
  CHECK(NamesOf(fixture.Store().List(fixture.ctx,
                                     Fields("metadata.namespace=x,metadata.name=b"))) == "b");
  CHECK(NamesOf(fixture.Store().List(fixture.ctx, Fields("spec.color=blue"))) == "b a");
  CHECK(NamesOf(fixture.Store().List(fixture.ctx, Fields("metadata.name=/../x"))).empty());
}

TEST_CASE("registry: pages of a list fit together", "[registry]") {
  Fixture fixture;
  for (const char* name : {"a", "b", "c"}) CreateIn(fixture, "x", name);
  meta::ListOptions options;
  options.limit = 2;
  const auto first = fixture.Store().List(fixture.ctx, options);
  CHECK(NamesOf(first) == "a b");
  CHECK(first->remaining_item_count == 1);
  options.continue_token = first->continue_token;
  CHECK(NamesOf(fixture.Store().List(fixture.ctx, options)) == "c");
}

TEST_CASE("registry: a watch sees what a list would", "[registry]") {
  Fixture fixture;
  CreateIn(fixture, "x", "a");
  meta::ListOptions options = Fields("metadata.name=b");
  options.resource_version = "2";
  const auto stream =
      fixture.Store().Watch(fixture.ctx, options, RealClock().Now() + std::chrono::hours(1));
  REQUIRE(stream.ok());
  CreateIn(fixture, "x", "c");
  CreateIn(fixture, "x", "b");
  std::vector<watch::Event> events;
  while ((*stream)->Next(events, 10, Waker()) == watch::Stream::State::kMore) {
  }
  REQUIRE(events.size() == 1);
  CHECK(events[0].object->name() == "b");
  CHECK(events[0].type == watch::EventType::kAdded);
}

TEST_CASE("registry: a watch refuses a bad resourceVersion with 422", "[registry]") {
  Fixture fixture;
  meta::ListOptions options;
  options.resource_version = "abc";
  const auto refused = fixture.Store().Watch(fixture.ctx, options, RealClock().Now());
  CHECK(refused.status().reason() == Reason::kInvalid);
  CHECK(refused.status().message() ==
        "widgets.test.example.com \"\" is invalid: resourceVersion: Invalid value: \"abc\": "
        "strconv.ParseUint: parsing \"abc\": invalid syntax");
}

TEST_CASE("registry: a kind without columns shows name and creation", "[registry]") {
  Fixture fixture;
  const auto created = fixture.Create("one");
  const auto table = fixture.Store().ConvertToTable(fixture.ctx, {created}, {});
  REQUIRE(table.ok());
  REQUIRE(table->columns.size() == 2);
  CHECK(table->columns[0].name == "Name");
  CHECK(table->columns[0].format == "name");
  CHECK(table->columns[1].name == "Created At");
  CHECK(table->columns[1].type == "date");
  REQUIRE(table->rows.size() == 1);
  CHECK(table->rows[0].cells[0].AsString() == "one");
  CHECK(table->rows[0].cells[1].AsString() == created->metadata()["creationTimestamp"].AsString());
  CHECK(table->rows[0].object == created);
}

TEST_CASE("registry: headers may be left out of a table", "[registry]") {
  Fixture fixture;
  meta::TableOptions options;
  options.no_headers = true;
  CHECK(fixture.Store().ConvertToTable(fixture.ctx, {}, options)->columns.empty());
}

TEST_CASE("registry: columns show values by their type", "[registry]") {
  Fixture fixture;
  auto object = fixture.New("one");
  object->Edit("spec", "color") = "red";
  object->Edit("spec", "size") = 7;
  object->Edit("status", "phase") = "not a date";
  const runtime::ObjectPtr item = std::move(object);
  const auto convertor =
      registry::NewColumnTableConvertor({{"Color", "string", ".spec.color", "", "", 0},
                                         {"Size", "integer", ".spec.size", "", "How large.", 1},
                                         {"Size text", "string", ".spec.size", "", "", 0},
                                         {"Wrong", "integer", ".spec.color", "", "", 0},
                                         {"Missing", "string", ".spec.none", "", "", 0},
                                         {"Age", "date", ".status.phase", "", "", 0}},
                                        RealClock());
  const auto table = convertor->ConvertToTable(fixture.ctx, {item}, {});
  REQUIRE(table.ok());
  CHECK(table->columns[1].description ==
        "Custom resource definition column (in JSONPath format): .spec.color");
  CHECK(table->columns[2].description == "How large.");
  CHECK(table->columns[2].priority == 1);
  const auto& cells = table->rows[0].cells;
  REQUIRE(cells.size() == 7);
  CHECK(cells[1].AsString() == "red");
  CHECK(cells[2].AsInt() == 7);
  CHECK(cells[3].AsString() == "7");
  CHECK(cells[4].is_null());
  CHECK(cells[5].is_null());
  CHECK(cells[6].AsString() == "<invalid>");
}

TEST_CASE("registry: ages are printed as Go's HumanDuration", "[registry]") {
  using namespace std::chrono_literals;
  const std::vector<std::pair<std::chrono::seconds, std::string>> table = {
      {-2s, "<invalid>"},   {-1s, "0s"},           {0s, "0s"},
      {119s, "119s"},       {120s, "2m"},          {187s, "3m7s"},
      {599s, "9m59s"},      {600s, "10m"},         {179min, "179m"},
      {180min, "3h"},       {190min, "3h10m"},     {480min, "8h"},
      {47h, "47h"},         {48h, "2d"},           {51h, "2d3h"},
      {24h * 8, "8d"},      {24h * 729, "729d"},   {24h * 365 * 2, "2y"},
      {24h * 740, "2y10d"}, {24h * 365 * 8, "8y"}, {24h * 365 * 20 + 24h * 9, "20y"}};
  for (const auto& [duration, text] : table) {
    INFO(text);
    CHECK(registry::HumanDuration(duration) == text);
  }
}

TEST_CASE("registry: a store without cache serves the same", "[registry]") {
  Fixture fixture(false);
  fixture.Create("one");
  CHECK(!fixture.Store().AnswersInline());
  CHECK(NamesOf(fixture.Store().List(fixture.ctx, {})) == "one");
  CHECK(fixture.Edit("one", [](runtime::Object& o) { o.Edit("spec", "size") = 3; }).ok());
  CHECK(fixture.Delete("one").ok());
}

TEST_CASE("registry: what a watch cache tells is counted and handed on", "[registry]") {
  const std::shared_ptr<metrics::Registry> registry = metrics::NewRegistry();
  storage::cacher::Options options;
  int slow = 0;
  std::string heard;
  options.on_slow_watch = [&] { ++slow; };
  options.progress = std::make_shared<LastReport>(heard);
  registry::CountWatchCache(registry, {"example.com", "widgets"}, options);

  options.on_slow_watch();
  options.on_slow_watch();
  ProgressReporter warm_up(options.progress, RealClock(), {.what = "warm-up"});
  warm_up.Fail({Reason::kTimeout, "slow"});
  warm_up.Update(9, 9);
  warm_up.Finish();

  CHECK(slow == 2);
  CHECK(heard == "warm-up: 9 of 9");
  const std::string text = registry->Serialize();
  const std::string labels = "{group=\"example.com\",resource=\"widgets\"}";
  for (const std::string& line :
       {"apiserver_terminated_watchers_total" + labels + " 2",
        "apiserver_watch_cache_initializations_total" + labels + " 1",
        "apiserver_watch_cache_initialization_errors_total" + labels + " 1",
        "apiserver_watch_cache_loaded_objects" + labels + " 9"}) {
    INFO(text);
    CHECK(text.find(line + "\n") != std::string::npos);
  }
}

TEST_CASE("registry: a store tells how much it has stored", "[registry]") {
  const bool watch_cache = GENERATE(true, false);
  Fixture fixture(watch_cache);
  const std::shared_ptr<metrics::Registry> registry = metrics::NewRegistry();
  fixture.config.metrics = registry;
  CreateIn(fixture, "x", "a");
  CreateIn(fixture, "y", "b");
  fixture.ctx.Set(rest::Namespace{""});
  REQUIRE(NamesOf(fixture.Store().List(fixture.ctx, {})) == "a b");

  const rest::StatsProvider* const known = rest::Capabilities::Of(fixture.Store()).stats;
  REQUIRE(known != nullptr);
  const auto stats = known->GetStats();
  REQUIRE(stats.has_value());
  CHECK(stats->count == 2);
  CHECK(stats->average_bytes > 100);
  const auto shows = [&registry](const std::string& line) {
    const std::string text = registry->Serialize();
    INFO(text);
    return text.find(line + "\n") != std::string::npos;
  };
  const std::string labels = "{group=\"test.example.com\",resource=\"widgets\"} ";
  CHECK(shows("apiserver_storage_objects{resource=\"widgets.test.example.com\"} 2"));
  CHECK(shows("apiserver_resource_objects" + labels + "2"));
  CHECK(shows("apiserver_resource_size_estimate_bytes" + labels +
              std::to_string(2 * stats->average_bytes)));
  fixture.store.reset();
  CHECK_FALSE(registry->Serialize().find("widgets.test.example.com") != std::string::npos);
}

TEST_CASE("registry: nothing is known of what no cache and no list has seen", "[registry]") {
  Fixture fixture(/*watch_cache=*/false);
  fixture.config.metrics = metrics::NewRegistry();
  CreateIn(fixture, "x", "a");
  CHECK_FALSE(fixture.Store().GetStats().has_value());
  CHECK(fixture.config.metrics->Serialize().find(
            "apiserver_resource_objects{group=\"test.example.com\",resource=\"widgets\"} -1\n") !=
        std::string::npos);
}
