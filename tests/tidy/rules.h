// The house rules that a machine can check, as functions over a tree in memory: the real one, or
// one with a planted violation.
#pragma once

#include <string>
#include <vector>

namespace tidy {

struct SourceFile {
  std::string path;  // From the root of the checkout: "lib/storage/kv/engine.cc".
  std::vector<std::string> lines;
};

using Tree = std::vector<SourceFile>;

// Bottom first, as cmake/ApiserverRooms.cmake has them.
struct House {
  std::vector<std::string> rooms;
  std::vector<std::string> leaves;
};

// "lib/base/a.cc:12: what is wrong", one per violation.
using Complaints = std::vector<std::string>;

// Lines of 100 columns, functions of 70 lines, files of 800.
Complaints Sizes(const Tree& tree);

// Every file under include/apiserver/ and lib/ lies in a room; an include points to the same room
// or to an earlier one, and to a leaf only from a leaf. The longest match names the room.
Complaints Includes(const Tree& tree, const House& house);

// Public headers include the standard library (a list of it) and apiserver/, have `#pragma once`,
// put everything in apiserver::inline v0, open no namespace to others and define no macro but
// APISERVER_*.
Complaints PublicHeaders(const Tree& tree);

// Sources of lib/ say `namespace apiserver::v0::room`: without v0 clang 14 defines another room,
// and with `inline` ctags 5.9 finds nothing in them.
Complaints SourceNamespaces(const Tree& tree);

// Names that only some rooms of lib/ may use: locks, threads, clocks, randomness, the environment
// and files belong to base and the leaves; nobody prints, exits or handles signals.
Complaints ForbiddenNames(const Tree& tree, const House& house);

// A range-based for makes its range of no lock or shared_ptr that is a temporary: before C++23 that
// ends before the first turn, so `for (auto& x : *list_.Lock())` reads without the lock.
Complaints Loops(const Tree& tree);

// A sanitizer's suppressions name third-party symbols only, each paragraph below its reason.
Complaints Suppressions(const SourceFile& file);

// Marks of unfinished work and paths of somebody's machine.
Complaints Leftovers(const Tree& tree);

}  // namespace tidy
