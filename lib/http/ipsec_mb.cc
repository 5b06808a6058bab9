#include "http/ipsec_mb.h"

#include <memory>
#include <optional>

namespace apiserver::v0::http {
namespace {

// SAFE_DATA: no key is left in registers or on the stack.
constexpr std::uint64_t kNeeded =
    IMB_FEATURE_AVX512_SKX | IMB_FEATURE_VAES | IMB_FEATURE_VPCLMULQDQ | IMB_FEATURE_SAFE_DATA;

struct FreeManager {
  void operator()(IMB_MGR* manager) const { free_mb_mgr(manager); }
};

std::optional<IpsecMb> Load() {
  const std::unique_ptr<IMB_MGR, FreeManager> manager(alloc_mb_mgr(0));
  if (!manager || (manager->features & kNeeded) != kNeeded) return std::nullopt;
  init_mb_mgr_avx512(manager.get());
  // It also tests itself.
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
