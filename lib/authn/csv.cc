#include "authn/csv.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0::authn {
namespace {

// Reads as Go's encoding/csv with FieldsPerRecord -1: records may differ in length.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : rest_(text) {}

  Result<std::vector<CsvRecord>> ReadAll() {
    std::vector<CsvRecord> records;
    while (!rest_.empty()) {
      NextLine();
      if (row_.empty()) continue;
      CsvRecord record{.line = line_number_};
      if (Status status = ReadRecord(record); !status.ok()) return status;
      records.push_back(std::move(record));
    }
    return records;
  }

 private:
  // Makes the next line the row, without its line break.
  void NextLine() {
    const std::size_t end = rest_.find('\n');
    ended_ = end != std::string_view::npos;
    row_ = rest_.substr(0, end);
    rest_ = ended_ ? rest_.substr(end + 1) : std::string_view();
    // Go's reader takes CR LF for a newline, within quotes too.
    if (row_.ends_with('\r')) row_.remove_suffix(1);
    column_ = 1;
    ++line_number_;
  }

  void Skip(std::size_t bytes) {
    row_.remove_prefix(bytes);
    column_ += bytes;
  }

  Status Bad(const char* what) const {
    return Status(Reason::kInvalid, "parse error on line " + std::to_string(line_number_) +
                                        ", column " + std::to_string(column_) + ": " + what);
  }

  Status ReadRecord(CsvRecord& record) {
    for (bool more = true; more;) {
      std::string field;
      Status status = row_.starts_with('"') ? ReadQuoted(field) : ReadPlain(field);
      if (!status.ok()) return status;
      record.fields.push_back(std::move(field));
      more = row_.starts_with(',');
      if (more) Skip(1);
    }
    return {};
  }

  Status ReadPlain(std::string& field) {
    const std::size_t end = std::min(row_.find(','), row_.size());
    const std::size_t quote = row_.substr(0, end).find('"');
    if (quote != std::string_view::npos) {
      Skip(quote);
      return Bad("bare \" in non-quoted field");
    }
    field = row_.substr(0, end);
    Skip(end);
    return {};
  }

  // Reads a quoted field, which may run over several lines.
  Status ReadQuoted(std::string& field) {
    Skip(1);
    for (;;) {
      const std::size_t quote = row_.find('"');
      if (quote == std::string_view::npos) {
        field += row_;
        Skip(row_.size());
        if (!ended_ || rest_.empty()) return Bad("extraneous or missing \" in quoted-field");
        field += '\n';
        NextLine();
        continue;
      }
      field += row_.substr(0, quote);
      Skip(quote + 1);
      if (row_.starts_with('"')) {
        field += '"';
        Skip(1);
        continue;
      }
      if (row_.empty() || row_.starts_with(',')) return {};
      return Bad("extraneous or missing \" in quoted-field");
    }
  }

  std::string_view rest_;  // The lines to come.
  std::string_view row_;   // The rest of this line.
  bool ended_ = false;     // This line ended in a newline.
  std::size_t line_number_ = 0;
  std::size_t column_ = 1;
};

}  // namespace

Result<std::vector<CsvRecord>> ReadCsv(std::string_view text) { return CsvReader(text).ReadAll(); }

}  // namespace apiserver::v0::authn
