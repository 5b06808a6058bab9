#include "server/debug/loaded_objects.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include "text/hex.h"

namespace apiserver::v0::server::debug {

namespace {

std::uint64_t DownTo(std::uint64_t number, std::uint64_t step) { return number - number % step; }

// Names and contents of notes are padded to words.
std::size_t Padded(std::size_t size) { return (size + 3) / 4 * 4; }

std::string Hexadecimal(std::string_view bytes) {
  std::string text;
  text::AppendHex(bytes, text);
  return text;
}

// Returns the build id of the linker's note among those in a segment. Empty: there is none.
std::string BuildIdIn(std::string_view notes) {
  constexpr std::string_view kGnu("GNU\0", 4);
  while (notes.size() > sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes.data(), sizeof(head));
    notes.remove_prefix(sizeof(head));
    const std::size_t name_size = Padded(head.n_namesz);
    if (name_size > notes.size() || head.n_descsz > notes.size() - name_size) return "";
    const std::string_view name = notes.substr(0, head.n_namesz);
    if (head.n_type == NT_GNU_BUILD_ID && name == kGnu) {
      return Hexadecimal(notes.substr(name_size, head.n_descsz));
    }
    notes.remove_prefix(std::min(name_size + Padded(head.n_descsz), notes.size()));
  }
  return "";
}

std::string OwnFile() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string() : path.string();
}

void Append(const dl_phdr_info& info, std::vector<LoadedObject>& objects) {
  const std::span<const ElfW(Phdr)> segments(info.dlpi_phdr, info.dlpi_phnum);
  std::string build_id;
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_NOTE || !build_id.empty()) continue;
    // The loader has mapped it there. NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* notes = reinterpret_cast<const char*>(info.dlpi_addr + segment.p_vaddr);
    build_id = BuildIdIn({notes, segment.p_memsz});
  }
  std::string file = info.dlpi_name ? info.dlpi_name : "";
  if (file.empty() && objects.empty()) file = OwnFile();
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uint64_t begin = info.dlpi_addr + segment.p_vaddr;
    objects.push_back({.begin = DownTo(begin, page),
                       .end = DownTo(begin + segment.p_memsz + page - 1, page),
                       .file_offset = DownTo(segment.p_offset, page),
                       .file = file,
                       .build_id = build_id});
  }
}

}  // namespace

std::vector<LoadedObject> LoadedObjects() {
  std::vector<LoadedObject> objects;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        Append(*info, *static_cast<std::vector<LoadedObject>*>(to));
        return 0;
      },
      &objects);
  return objects;
}

}  // namespace apiserver::v0::server::debug
