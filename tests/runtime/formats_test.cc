#include "runtime/formats.h"

#include <catch2/catch.hpp>
#include <string>

namespace apiserver::inline v0::runtime {
namespace {

struct FormatRow {
  const char* format;
  const char* text;
  bool valid;
};

// Checked against kube-openapi's strfmt in k8s.io/apiextensions-apiserver v0.35.4.
constexpr FormatRow kFormatRows[] = {
    {"date-time", "2020-01-02T03:04:05Z", true},
    {"datetime", "2020-01-02t23:59:59.123+01:30", true},
    {"date-time", "2020-01-02T03:04:05,5z", true},
    {"date-time", "2020-01-02T24:00:00Z", false},
    {"date-time", "2020-01-02T03:04:05", false},
    {"date-time", "2020-02-30T03:04:05Z", false},
    {"date-time", "2020-01-02T03:04:05ZtX", true},
    {"date", "2020-02-29", true},
    {"date", "2021-02-29", false},
    {"duration", "1h2m", true},
    {"duration", "22 ns", true},
    {"duration", "3 weeks", true},
    {"duration", "2 Hours", true},
    {"duration", "1 fortnight", false},
    {"duration", "", false},
    {"uuid", "123E4567e89b12d3a456426614174000", true},
    {"uuid", "123e4567", false},
    {"uuid3", "123e4567-e89b-32d3-0456-426614174000", true},
    {"uuid3", "123e4567-e89b-42d3-0456-426614174000", false},
    {"uuid4", "123e4567-e89b-42d3-a456-426614174000", true},
    {"uuid4", "123e4567-e89b-42d3-7456-426614174000", false},
    {"uuid5", "123e4567-e89b-52d3-a456-426614174000", true},
    {"ipv4", "10.0.0.1", true},
    {"ipv4", "010.0.0.1", true},
    {"ipv4", "::ffff:1.2.3.4", true},
    {"ipv4", "::1", false},
    {"ipv6", "::1", true},
    {"ipv6", "fe80::1%eth0", false},
    {"cidr", "10.0.0.0/8", true},
    {"cidr", "10.0.0.0/33", false},
    {"cidr", "::/128", true},
    {"cidr", "10.0.0.0", false},
    {"mac", "01:23:45:67:89:ab", true},
    {"mac", "01-23-45-67-89-ab-cd-ef", true},
    {"mac", "0123.4567.89ab", true},
    {"mac", "01:23-45:67:89:ab", false},
    {"mac", "01:23:45:67:89:ab:cd", false},
    {"byte", "YWI=", true},
    {"byte", "YWI", false},
    {"byte", "", false},
    {"byte", "YW-_", false},
    {"uri", "http://a.b/c", true},
    {"uri", "/path", true},
    {"uri", "no scheme", false},
    {"hostname", "a.example.com", true},
    {"hostname", "-a.com", false},
    {"hostname", "a_b.com", false},
    {"hostname", "", false},
    {"bson-object-id", "507f1f77bcf86cd799439011", true},
    {"bsonobjectid", "507f1f77bcf86cd79943901", false},
    {"isbn", "0321751043", true},
    {"isbn", "978-0321751041", true},
    {"isbn10", "978-0321751041", false},
    {"isbn10", "080442957X", true},
    {"isbn13", "978 0321751042", false},
    {"creditcard", "4111-1111-1111-1111", true},
    {"creditcard", "4111-1111-1111-1112", false},
    {"ssn", "111-11-1111", true},
    {"ssn", "111111111", false},
    {"hexcolor", "#FFFFFF", true},
    {"hexcolor", "fff", true},
    {"hexcolor", "#ffff", false},
    {"rgbcolor", "rgb(255, 1 ,0)", true},
    {"rgbcolor", "rgb(256,1,0)", false},
    {"password", "", true},
    {"k8s-short-name", "a-b", true},
    {"k8s-short-name", "a.b", false},
    {"k8s-long-name", "a-b.c", true},
    {"k8s-long-name", "a-.c", false},
    {"k8s-long-name", "A.c", false},
    {"unheard-of", "anything", true},
};

constexpr FormatRow kEmailRows[] = {
    {"email", "a@b.c", true},
    {"email", "a@b", true},
    {"email", "Barry Gibbs <bg@example.com>", true},
    {"email", "\"Quoted, Name\" <bg@example.com>", true},
    {"email", "<a@b.c>", true},
    {"email", "a@b.c (comment)", true},
    {"email", "a@[127.0.0.1]", true},
    {"email", "a@[127.0.0]", false},
    {"email", "\"quoted local\"@b.c", true},
    {"email", "\"\"@b.c", false},
    {"email", "a..b@c", false},
    {"email", ".a@c", false},
    {"email", "a@b@c", false},
    {"email", "a", false},
    {"email", "", false},
    {"email", "a@b.c, d@e.f", false},
    {"email", "ä@ö.ü", true},
    {"email", "a@b.c (open", false},
    {"email", "Name <a@b.c", false},
};

TEST_CASE("runtime: formats are those of kube-openapi", "[runtime]") {
  for (const FormatRow& row : kFormatRows) {
    CAPTURE(row.format, row.text);
    CHECK(MatchesFormat(row.format, row.text) == row.valid);
  }
  for (const FormatRow& row : kEmailRows) {
    CAPTURE(row.text);
    CHECK(MatchesFormat(row.format, row.text) == row.valid);
  }
}

TEST_CASE("runtime: formats that apiextensions does not know are known to be unknown",
          "[runtime]") {
  for (const char* const known : {"date-time", "datetime", "k8s-long-name", "u-u-i-d", "byte"}) {
    CHECK(IsKnownFormat(known));
  }
  for (const char* const unknown :
       {"int32", "int64", "double", "ip", "time", "uri-reference", ""}) {
    CHECK_FALSE(IsKnownFormat(unknown));
  }
  CHECK_FALSE(IsKnownFormat(std::string(1000, '-')));
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
