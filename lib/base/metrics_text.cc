#include "base/metrics_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace apiserver::v0::metrics {

namespace {

// Escapes as Prometheus' text format asks: help texts keep their quotes, label values do not.
void AppendEscaped(std::string_view text, bool quotes_too, std::string& out) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\' || (quotes_too && c == '"')) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
}

void AppendLabel(std::string_view name, std::string_view value, std::string& out) {
  out += name;
  out += "=\"";
  AppendEscaped(value, /*quotes_too=*/true, out);
  out += '"';
}

// `bound`: the upper bound of a bucket, which is its last label; null: the line is no bucket's.
void AppendLabels(const SeriesLabels& labels, const double* bound, std::string& out) {
  if (labels.names.empty() && bound == nullptr) return;
  out += '{';
  for (std::size_t i = 0; i < labels.names.size(); ++i) {
    if (i > 0) out += ',';
    AppendLabel(labels.names[i], i < labels.values.size() ? labels.values[i] : "", out);
  }
  if (bound != nullptr) {
    if (!labels.names.empty()) out += ',';
    out += "le=\"";
    AppendNumber(*bound, out);
    out += '"';
  }
  out += '}';
}

void AppendLine(std::string_view name, const SeriesLabels& labels, double value, std::string& out) {
  out += name;
  AppendLabels(labels, nullptr, out);
  out += ' ';
  AppendNumber(value, out);
  out += '\n';
}

}  // namespace

void AppendNumber(double value, std::string& out) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-Inf" : "+Inf";
  } else {
    // The shortest text that reads back as the same number: it has at most 24 bytes.
    std::array<char, 32> text;
    const auto end = std::to_chars(text.begin(), text.end(), value, std::chars_format::general).ptr;
    out.append(text.begin(), end);
  }
}

void AppendFamilyHead(const FamilyOptions& options, std::string_view type, std::string& out) {
  if (!options.help.empty()) {
    out.append("# HELP ").append(options.name).append(" ");
    AppendEscaped(options.help, /*quotes_too=*/false, out);
    out += '\n';
  }
  out.append("# TYPE ").append(options.name).append(" ").append(type).append("\n");
}

void AppendSeries(std::string_view name, const SeriesLabels& labels, const Counter& counter,
                  std::string& out) {
  AppendLine(name, labels, counter.value(), out);
}

void AppendSeries(std::string_view name, const SeriesLabels& labels, const Gauge& gauge,
                  std::string& out) {
  AppendLine(name, labels, gauge.value(), out);
}

void AppendSeries(std::string_view name, const SeriesLabels& labels, const Histogram& histogram,
                  std::string& out) {
  // The buckets of the text format are cumulative; a Histogram counts each value once.
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i <= histogram.upper_bounds().size(); ++i) {
    const bool last = i == histogram.upper_bounds().size();
    const double bound =
        last ? std::numeric_limits<double>::infinity() : histogram.upper_bounds()[i];
    cumulative += histogram.count(i);
    out.append(name).append("_bucket");
    AppendLabels(labels, &bound, out);
    out.append(" ").append(std::to_string(cumulative)).append("\n");
  }
  AppendLine(std::string(name) + "_sum", labels, histogram.sum(), out);
  out.append(name).append("_count");
  AppendLabels(labels, nullptr, out);
  // The buckets' total: values that are observed meanwhile may be in no bucket of this text yet.
  out.append(" ").append(std::to_string(cumulative)).append("\n");
}

}  // namespace apiserver::v0::metrics
