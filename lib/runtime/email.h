#pragma once

#include <string_view>

namespace apiserver::inline v0::runtime {

// Tells if a text is one address of a mail, as Go's net/mail.ParseAddress reads it: "a@b.c",
// "Name <a@b.c>", "a@b.c (comment)". Groups are not taken.
bool IsEmail(std::string_view text);

}  // namespace apiserver::inline v0::runtime
