#include "http/ipsec_mb.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

namespace apiserver::v0::http {
namespace {

// SAFE_DATA: no key is left in registers or on the stack.
constexpr std::uint64_t kNeeded =
    IMB_FEATURE_AVX512_SKX | IMB_FEATURE_VAES | IMB_FEATURE_VPCLMULQDQ | IMB_FEATURE_SAFE_DATA;

bool Holds(const dl_phdr_info& object, const ElfW(Phdr) & part, std::uintptr_t address) {
  const std::uintptr_t begin = object.dlpi_addr + part.p_vaddr;
  return part.p_type == PT_LOAD && address >= begin && address - begin < part.p_memsz;
}

void GiveBack(std::uintptr_t begin, std::size_t size) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = begin / page * page;
  madvise(reinterpret_cast<void*>(first), begin + size - first, MADV_DONTNEED);
}

// Gives back the pages of a shared library, of which `address` is one, that are as its file has
// them: the kernel brings again what is used. A program that holds the library keeps them all.
int GiveLibraryBack(dl_phdr_info* object, std::size_t /*size*/, void* address) {
  const ElfW(Phdr)* const parts = object->dlpi_phdr;
  const ElfW(Phdr)* const end = parts + object->dlpi_phnum;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (std::none_of(parts, end, [&](const auto& part) { return Holds(*object, part, at); })) {
    return 0;
  }
  if (*object->dlpi_name == '\0') return 1;
  for (const ElfW(Phdr)* part = parts; part != end; ++part) {
    if (part->p_type == PT_LOAD && (part->p_flags & PF_W) == 0) {
      GiveBack(object->dlpi_addr + part->p_vaddr, part->p_memsz);
    }
  }
  return 1;
}

struct FreeManager {
  void operator()(IMB_MGR* manager) const { free_mb_mgr(manager); }
};

std::optional<IpsecMb> Load() {
  const std::unique_ptr<IMB_MGR, FreeManager> manager(alloc_mb_mgr(0));
  if (!manager || (manager->features & kNeeded) != kNeeded) return std::nullopt;
  init_mb_mgr_avx512(manager.get());
  // It has tested all its algorithms, which are 3 MiB.
  dl_iterate_phdr(GiveLibraryBack, reinterpret_cast<void*>(manager->gcm128_enc_update));
  if (imb_get_errno(manager.get()) != 0) return std::nullopt;
  return IpsecMb{
      .aes128 = {manager->gcm128_pre, manager->gcm128_init, manager->gcm128_enc_update,
                 manager->gcm128_dec_update, manager->gcm128_enc_finalize,
                 manager->gcm128_dec_finalize},
      .aes256 = {manager->gcm256_pre, manager->gcm256_init, manager->gcm256_enc_update,
                 manager->gcm256_dec_update, manager->gcm256_enc_finalize,
                 manager->gcm256_dec_finalize},
  };
}

}  // namespace

const IpsecMb* FindIpsecMb() {
  static const std::optional<IpsecMb> found = Load();
  return found ? &*found : nullptr;
}

}  // namespace apiserver::v0::http
