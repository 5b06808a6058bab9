#include "apiserver/options/recommended.h"

#include "base/status_macros.h"

namespace apiserver::v0::options {

void RecommendedOptions::AddFlags(FlagSet& flags) {
  // The sections in the order of kube-apiserver's help.
  flags.BeginSection("Generic");
  flags.Add({.name = "--standalone",
             .value = &standalone,
             .help = "Be a server of its own, with an authority and an administrator of its own",
             .off_name = "--no-standalone"});
  server_run.AddFlags(flags);
  etcd.AddFlags(flags);
  secure_serving.AddFlags(flags);
  audit.AddFlags(flags);
  features.AddFlags(flags);
  authentication.AddFlags(flags);
  built_in_authentication.AddFlags(flags);
  authorization.AddFlags(flags);
  core_api.AddFlags(flags);
  admission.AddFlags(flags);
  tracing.AddFlags(flags);
}

std::vector<std::string> RecommendedOptions::Validate() const {
  std::vector<std::string> problems;
  for (const auto& group :
       {etcd.Validate(), audit.Validate(), authentication.Validate(standalone),
        built_in_authentication.Validate(standalone), authorization.Validate(standalone),
        core_api.Validate(standalone), server_run.Validate(), features.Validate(server_run)}) {
    problems.insert(problems.end(), group.begin(), group.end());
  }
  return problems;
}

Status RecommendedOptions::ApplyTo(server::Config& config, Environment environment,
                                   Recommended& made) const {
  environment.standalone = standalone;
  secure_serving.ApplyTo(config);
  AuditOptions auditing = audit;
  if (environment.exec_plug_ins == client::ExecPlugIns::kRefused) {
    auditing.values.exec_plug_ins = client::ExecPlugIns::kRefused;
  }
  RETURN_IF_ERROR(auditing.ApplyTo(config, *environment.log));
  RETURN_IF_ERROR(tracing.ApplyTo(config, *environment.log));
  // Users of front proxies are looked for before all others, and anonymous ones last.
  ASSIGN_OR_RETURN(made.delegation, authentication.ApplyTo(config, environment));
  ASSIGN_OR_RETURN(made.authentication, built_in_authentication.ApplyTo(config, environment));
  ASSIGN_OR_RETURN(made.authorization, authorization.ApplyTo(config, environment));
  AdmissionOptions obeying = admission;
  ASSIGN_OR_RETURN(made.core_api, core_api.ApplyTo(obeying, environment));
  ASSIGN_OR_RETURN(made.admission, obeying.ApplyTo(config, environment));
  features.ApplyTo(config);
  return server_run.ApplyTo(config);
}

}  // namespace apiserver::v0::options
