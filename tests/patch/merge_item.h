#pragma once

#include <utility>

#include "apiserver/runtime/schema.h"

// The types that strategicpatch's own tests patch: MergeItem and RetainKeysMergeItem of
// k8s.io/apimachinery/pkg/util/strategicpatch/patch_test.go.
namespace apiserver::inline v0::patch {

// `schema` with patch tags.
inline runtime::SchemaPtr Tagged(const runtime::SchemaPtr& schema, std::string strategy,
                                 std::string merge_key = "") {
  runtime::SchemaParts tagged(*schema);
  tagged.patch_strategy = std::move(strategy);
  tagged.patch_merge_key = std::move(merge_key);
  return MakeSchema(tagged);
}

// MergeItem holds itself; here it does `depth` times, then it is anything.
inline runtime::SchemaPtr MergeItemSchema(int depth = 6) {
  using runtime::IntegerSchema;
  using runtime::ListOf;
  using runtime::MapOf;
  using runtime::StringSchema;
  const runtime::SchemaPtr item = depth == 0 ? runtime::AnySchema() : MergeItemSchema(depth - 1);
  const runtime::SchemaPtr retain_keys =
      runtime::StructBuilder("strategicpatch.RetainKeysMergeItem")
          .Field("name", StringSchema())
          .Field("value", StringSchema())
          .Field("other", StringSchema())
          .Field("simpleMap", MapOf(StringSchema()))
          .Field("mergingIntList", Tagged(ListOf(IntegerSchema(64)), "merge"))
          .Field("mergingList", Tagged(ListOf(item), "merge", "name"))
          .Field("nonMergingList", ListOf(item))
          .Build();
  const runtime::SchemaPtr json_item =
      runtime::StructBuilder("").Field("Raw", runtime::BytesSchema()).Build();
  return runtime::StructBuilder("strategicpatch.MergeItem")
      .Field("name", StringSchema())
      .Field("value", StringSchema())
      .Field("other", StringSchema())
      .Field("mergingList", Tagged(ListOf(item), "merge", "name"))
      .Field("nonMergingList", ListOf(item))
      .Field("mergingIntList", Tagged(ListOf(IntegerSchema(64)), "merge"))
      .Field("nonMergingIntList", ListOf(IntegerSchema(64)))
      .Field("mergeItemPtr", Tagged(item, "merge", "name"),
             {.presence = runtime::Field::Presence::kPointer})
      .Field("simpleMap", MapOf(StringSchema()))
      .Field("replacingItem", Tagged(runtime::RawExtensionSchema(), "replace"))
      .Field("jsonItem", json_item)
      .Field("retainKeysMap", Tagged(retain_keys, "retainKeys"))
      .Field("retainKeysMergingList", Tagged(ListOf(item), "merge,retainKeys", "name"))
      .Build();
}

}  // namespace apiserver::inline v0::patch
