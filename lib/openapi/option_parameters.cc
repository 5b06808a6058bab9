#include "openapi/option_parameters.h"

namespace apiserver::v0::openapi {

namespace {

Parameter DryRun() {
  return {.name = "dryRun",
          .description = "'All': the request is processed, but nothing is stored."};
}

}  // namespace

Parameter PrettyParameter() {
  return {.name = "pretty",
          .description =
              "If 'true', the answer is pretty printed. Defaults to false unless the "
              "user agent is a browser or a command-line HTTP tool."};
}

Parameter ResourceVersionParameter() {
  return {.name = "resourceVersion", .description = "How fresh the answer has to be."};
}

// The texts are shorter than upstream's; clients are generated from the names and types.
std::vector<Parameter> ListParameters() {
  return {
      {.name = "allowWatchBookmarks",
       .type = "boolean",
       .description = "Ask for BOOKMARK events in a watch."},
      {.name = "continue",
       .description = "Where to go on with a paged list: metadata.continue of its last page."},
      {.name = "fieldSelector", .description = "Restricts the objects by their fields."},
      {.name = "labelSelector", .description = "Restricts the objects by their labels."},
      {.name = "limit", .type = "integer", .description = "The most objects in one page."},
      ResourceVersionParameter(),
      {.name = "resourceVersionMatch", .description = "How resourceVersion is meant."},
      {.name = "sendInitialEvents",
       .type = "boolean",
       .description = "A watch begins with the present state and a BOOKMARK after it."},
      {.name = "timeoutSeconds",
       .type = "integer",
       .description = "How long a watch lasts, whether anything happens or not."},
  };
}

Parameter WatchParameter() {
  return {.name = "watch",
          .type = "boolean",
          .description = "Answer with a stream of changes instead of a list."};
}

std::vector<Parameter> WriteParameters() {
  return {DryRun(),
          {.name = "fieldManager", .description = "The name of who makes this change."},
          {.name = "fieldValidation",
           .description = "What happens with unknown and duplicate fields: Ignore, Warn (default) "
                          "or Strict."}};
}

Parameter ForceParameter() {
  return {.name = "force",
          .type = "boolean",
          .description = "Take over the fields that others own. Of an apply only."};
}

std::vector<Parameter> DeleteParameters() {
  return {DryRun(),
          {.name = "gracePeriodSeconds",
           .type = "integer",
           .description = "How long the object may take to end; zero: at once."},
          {.name = "orphanDependents",
           .type = "boolean",
           .description = "Deprecated: use propagationPolicy."},
          {.name = "propagationPolicy",
           .description = "What becomes of dependents: Orphan, Background or Foreground."}};
}

Parameter IgnoreReadErrorsParameter() {
  return {.name = "ignoreStoreReadErrorWithClusterBreakingPotential",
          .type = "boolean",
          .description = "Delete the object although it cannot be read."};
}

}  // namespace apiserver::v0::openapi
