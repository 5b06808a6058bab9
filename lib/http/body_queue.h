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

// The bytes of an answer that wait to be sent; the ChunkWriter that a BodySource writes into. Small
// writes are gathered, so that an answer of many short pieces is sent in few long ones.
class BodyQueue final : public ChunkWriter {
 public:
  explicit BodyQueue(FairShare& output) : charge_(output) {}

  // Returns how many bytes are welcome, which are few once the share is used up.
  std::size_t room() const override;
  void Write(std::string_view copied) override;
  void Take(std::string owned) override;
  void Write(std::shared_ptr<const void> owner, std::string_view shared) override;

  // Appends a whole body without copying it.
  void Append(Bytes bytes);
  // Moves bytes from the front to `out`; returns how many.
  std::size_t TakeTo(std::span<char> out);
  // Appends up to `room` bytes from the front to `out`; returns how many.
  std::size_t AppendTo(std::string& out, std::size_t room);
  // Charges the bytes that only this queue keeps, unless they are few. The charge is given back
  // when the queue is empty, not piece by piece.
  void Charge();
  void SetTenant(const Tenant& tenant) { charge_.SetTenant(tenant); }
  const Tenant& tenant() const { return charge_.tenant(); }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  // Drops everything, and its charge.
  void Clear();

 private:
  void Pop();
  // Gives `copy` up to `room` bytes from the front, piece by piece.
  template <class Copy>
  std::size_t TakeUpTo(std::size_t room, const Copy& copy);

  FairShare::Charge charge_;
  std::size_t size_ = 0;
  std::size_t own_bytes_ = 0;  // Bytes in pieces_ that no other object shares.
  std::size_t first_ = 0;      // The index of the first unsent piece.
  std::vector<Bytes::Piece> pieces_;
  // Gathers small copies. Its bytes come after all pieces.
  std::string tail_;
  std::size_t tail_at_ = 0;
};

}  // namespace apiserver::inline v0::http
