#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/memory_budget.h"
#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::http {

// The bytes of an answer that wait to be sent. What a BodySource writes into.
class BodyQueue final : public ChunkWriter {
 public:
  // There is room for `room` bytes, and for few once `output` is used up.
  BodyQueue(std::size_t room, FairShare& output) : room_(room), output_(output), charge_(output) {}

  std::size_t room() const override;
  void Write(std::string_view copied) override;
  void Take(std::string owned) override;
  void Write(std::shared_ptr<const void> owner, std::string_view shared) override;

  void Append(Bytes bytes);
  // Moves bytes to `out`; returns how many.
  std::size_t TakeTo(std::span<char> out);
  // Counts the bytes left that nobody else keeps, unless they are few. They are let go of all at
  // once.
  void Charge();
  void SetTenant(const Tenant& tenant) { charge_.SetTenant(tenant); }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  void Clear();

 private:
  void Pop();

  std::size_t room_;
  const FairShare& output_;
  FairShare::Charge charge_;
  std::size_t size_ = 0;
  std::size_t own_bytes_ = 0;  // In pieces_.
  std::size_t first_ = 0;      // Of pieces_.
  std::vector<Bytes::Piece> pieces_;
  // Where small copies are gathered; its bytes come after all pieces.
  std::string tail_;
  std::size_t tail_at_ = 0;
};

}  // namespace apiserver::inline v0::http
