#!/usr/bin/env python3
"""Makes tests/cel/data out of the tables that `tables` printed, with the oracle's answer to every expression.

    rows.py RAW_FOLDER DATA_FOLDER ORACLE

Checks each answer against what the upstream table expects; a row that disagrees is an error.
"""
import json
import os
import re
import subprocess
import sys

ORIGIN = "k8s.io/%s v0.36.0, %s"
KUBERNETES = "The Kubernetes Authors"
OVERLOAD = "call arguments did not match a supported operator, function or macro signature"


def raw(folder, package):
    with open(os.path.join(folder, package + ".jsonl")) as lines:
        for line in lines:
            yield json.loads(line)


def plain(value):
    """Takes the dumper's marks for schemas and API objects away."""
    if isinstance(value, dict):
        if "$schema" in value:
            return plain(value["$schema"])
        if "$object" in value:
            return plain(value["json"])
        if value.get("$type") == "Unstructured":
            return plain(value.get("Object", {}))
        return {k: plain(v) for k, v in value.items() if k != "$type"}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value


class Data:
    """The groups of one file: rows that share an environment and inputs."""

    def __init__(self, name, origin, holds):
        self.name = name
        self.header = {"origin": origin, "copyright": KUBERNETES, "license": "Apache-2.0", "holds": holds}
        self.groups = []

    def group(self, table, case, env, values, rows):
        last = self.groups[-1] if self.groups else None
        if last and (last["table"], last["case"], last["env"], last["values"]) == (table, case, env, values):
            last["rows"] += rows
        else:
            self.groups.append({"table": table, "case": case, "env": env, "values": values, "rows": rows})

    def questions(self):
        for g, group in enumerate(self.groups):
            yield {"declare": dict(group["env"], name="e")}
            yield {"inputs": "i", "values": group["values"]}
            for r, row in enumerate(group["rows"]):
                question = {"id": [g, r], "env": "e", "inputs": "i", "expr": row["expr"]}
                for option in ("limit", "compile_only"):
                    if option in row:
                        question[option] = row[option]
                yield question


def ask(oracle, data):
    text = "\n".join(json.dumps(q, ensure_ascii=False) for q in data.questions())
    done = subprocess.run([oracle], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(data.name + ": " + done.stderr)
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        g, r = answer.pop("id")
        data.groups[g]["rows"][r]["go"] = answer


def text_of(row):
    """All that Kubernetes would say of the row, without the frame around it."""
    go = row["go"]
    text = go.get("error", "") and go["error"] + " evaluating rule: " + row["expr"]
    if "issues" in go:
        text = "rule compile error: compilation failed: " + go["issues"]
    if "program_error" in go:
        text = "rule compile error: program instantiation failed: " + go["program_error"]
    if "no such overload" in text:
        text += OVERLOAD
    if go.get("value") == {"bool": False}:
        text += "failed rule: " + row["expr"]
    if go.get("type") not in (None, "bool") and not text:
        text += "must evaluate to bool"
    return text


def disagreements(row):
    go = row["go"]
    if "unfolded" in row and "expected type" in text_of(row):
        return  # A mixed literal, which the test's environment allows and a server's does not.
    if "cost" in row and go.get("cost") != row["cost"]:
        yield "cost %s, upstream expects %s" % (go.get("cost"), row["cost"])
    if "max" in row and int(go.get("estimate", [0, -1])[1]) != row["max"]:
        yield "estimate %s, upstream expects %s" % (go.get("estimate"), row["max"])
    if "min" in row and int(go.get("estimate", [-1])[0]) != row["min"]:
        yield "estimate %s, upstream expects %s" % (go.get("estimate"), row["min"])
    if "at_least" in row and int(go.get("estimate", [0, -1])[1]) < row["at_least"]:
        yield "estimate %s, upstream expects at least %s" % (go.get("estimate"), row["at_least"])
    if "value" in row and go.get("value") != row["value"]:
        yield "value %s, upstream expects %s" % (text_of(row) or go.get("value"), row["value"])
    for pattern in row.get("texts", []):
        if pattern not in text_of(row) and not (row.get("regex") and re.search(pattern, text_of(row))):
            yield "%r, upstream expects %r" % (text_of(row), pattern)
    if row.get("compiles") and ("issues" in go or "program_error" in go):
        yield "does not compile: " + text_of(row)


TRUE = {"bool": True}


def of_schema(schema, root=False, **more):
    return dict({"variables": [{"name": "self", "schema": plain(schema), "root": root},
                               {"name": "oldSelf", "same": "self"}]}, **more)


def values_of(row):
    values = {}
    if row.get("obj") is not None:
        values["self"] = {"json": row["obj"]}
    if row.get("oldObj") is not None:
        values["oldSelf"] = {"json": row["oldObj"]}
    return values


def crd(folder):
    origin = ORIGIN % ("apiextensions-apiserver", "pkg/apiserver/schema/cel")
    cost = Data("crd_cost", origin, "TestCelCostStability: expressions with their run-time cost")
    estimate = Data("crd_estimate", origin, "TestCelEstimatedCostStability, TestCostEstimation: with their estimate")
    rules = Data("crd_rules", origin, "TestValidationExpressions: rules that hold, and rules that fail with a text")
    compiled = Data("crd_compile", origin, "TestCelCompilation: rules and messages that compile or not")
    for line in raw(folder, "apiserver_schema_cel"):
        table, row = line["table"], line["row"]
        case = row.get("name", "")
        if table == "TestCelCostStability":
            cost.group(table, case, of_schema(row["schema"], True), values_of(row),
                       [{"expr": e, "cost": c, "value": TRUE} for e, c in sorted(row["expectCost"].items())])
        elif table == "TestCelEstimatedCostStability":
            estimate.group(table, case, of_schema(row["schema"], new=True, version="1.35"), {},
                           [{"expr": e, "max": c, "compile_only": True} for e, c in sorted(row["expectCost"].items())])
        elif table == "TestCostEstimation":
            for which, exact, least in (("calc", "expectedCalcCost", "expectCalcCostExceedsLimit"),
                                        ("set", "expectedSetCost", "expectedSetCostExceedsLimit")):
                schema = plain(row[which])
                expectation = {"compile_only": True, "expr": schema["x-kubernetes-validations"][0]["rule"]}
                if exact in row:
                    expectation["max"] = row[exact]
                if least in row:
                    expectation["at_least"] = row[least]
                estimate.group(table, case + ", " + which, of_schema(schema, new=True, version="1.35"), {}, [expectation])
        elif table == "TestValidationExpressions":
            validation_rules(rules, table, case, row)
        elif table == "TestCelCompilation":
            compilation(compiled, table, case, row)
    return [cost, estimate, rules, compiled]


def validation_rules(rules, table, case, row):
    held, skipped = values_of(row), row.get("expectSkipped") or row.get("obj") is None
    expectation = {"compile_only": True, "compiles": True} if skipped else {"value": TRUE}
    if "expectedCost" in row:
        expectation["cost"] = row["expectedCost"]
    if row.get("valid"):
        rules.group(table, case, of_schema(row["schema"], row.get("isRoot", False)), held,
                    [dict(expectation, expr=e) for e in row["valid"]])
    if row.get("errors"):
        rules.group(table, case, of_schema(row["schema"], True), held,
                    [{"expr": e, "texts": [t]} for e, t in sorted(row["errors"].items())])


def compilation(data, table, case, row):
    schema = plain(row["input"])
    loaded = {} if row.get("unmodified") else {"new": True, "version": "1.35"}
    for rule, expected in zip(schema["x-kubernetes-validations"], row["expectedResults"]):
        env = of_schema(schema, **loaded)
        env["variables"][1]["optional"] = rule.get("optionalOldSelf", False)
        expected = expected if isinstance(expected, list) else [expected]
        of_rule, of_message = {"expr": rule["rule"], "compile_only": True}, None
        for one in expected:
            if one is True or one is False:
                of_rule["transition"] = one
            elif one["$type"] == "errorMatcher":
                of_rule["texts"] = [one["contains"]] if "evaluate to a bool" not in one["contains"] else []
            elif one["$type"] == "noErrorMatcher":
                of_rule["compiles"] = True
            elif one["$type"] == "messageExpressionErrorMatcher":
                of_message = {"expr": rule["messageExpression"], "compile_only": True, "texts": [], "message": True}
        if not rule["rule"].strip() or "fakeFunction" in rule["rule"] and row.get("unmodified"):
            continue  # Nothing is compiled; or a function that only the test's environment has.
        data.group(table, case, env, {}, [of_rule] + ([of_message] if of_message else []))


LIBRARY = {"testIP", "TestCIDR", "TestIP", "TestQuantity", "TestSemver", "TestFormat"}


def library(folder):
    origin = ORIGIN % ("apiserver", "pkg/cel/library")
    cost = Data("library_cost", origin, "cost_test.go: estimate and run-time cost of every library function")
    functions = Data("library", origin, "the tables of ip, cidr, quantity, format and semver")
    allow = {"authorizer": {"authorizer": {"decision": "allow"}}}
    env = {"string_size": 12, "patch": True,
           "variables": [{"name": "authorizer", "type": "kubernetes.authorization.Authorizer"}]}
    rows = list(raw(folder, "cel_library"))
    for line in rows:
        table, row = line["table"].split("/")[0], line["row"]
        if "expectRuntimeCost" in row:
            estimate = row["expectEsimatedCost"]
            # The test's own environment folds no constants: its run-time cost is higher than a server's.
            cost.group(table, "", env, allow, [{"expr": row["expr"], "unfolded": row["expectRuntimeCost"],
                                                "min": estimate.get("Min", 0), "max": estimate.get("Max", 0)}])
    seen = set()
    # Go's map order decides the order of TestFormat's pairs.
    for line in sorted(rows, key=lambda l: (l["table"].split("/")[0], l["row"]["expr"])):
        table, row = line["table"].split("/")[0], line["row"]
        if table not in LIBRARY or row.get("version") == 0 or row["expr"] in seen:
            continue
        seen.add(row["expr"])
        expectation = {"expr": row["expr"]}
        error = row.get("expectRuntimeErr") or row.get("expectRuntimeErrPattern")
        if row["expectCompileErrs"] or error:
            expectation.update(texts=row["expectCompileErrs"] or [error], regex=True)
        elif row["expectResult"]:
            result = row["expectResult"]
            expectation["value"] = {"opaque": [result["$cel"], result["text"]]} if "$cel" in result else result
        functions.group(table, "", {"variables": []}, {}, [expectation])
    return [cost, functions]


def values(folder):
    data = Data("values", ORIGIN % ("apiserver", "pkg/cel/common"),
                "TestToValue: dyn variables whose values are seen through a schema")
    for line in raw(folder, "cel_common"):
        row = line["row"]
        if line["table"] != "TestToValue" or "nil_" in row["expression"]:
            continue  # A nil pointer of Go is no JSON.
        env = {"variables": [{"name": n, "type": "dyn", "view": plain(v["schema"])}
                             for n, v in sorted(row["activation"].items())]}
        inputs = {n: {"json": plain(v.get("value"))} for n, v in row["activation"].items()}
        expectation = {"expr": row["expression"]}
        expectation.update({"texts": [row["wantErr"]]} if row.get("wantErr") else {"value": TRUE})
        data.group("TestToValue", "", env, inputs, [expectation])
    return [data]


def patch_types(folder):
    data = Data("patch_types", ORIGIN % ("apiserver", "pkg/cel/mutation"),
                "TestTypeResolver, TestCELOptional: objects of mutating policies")
    for line in raw(folder, "cel_mutation"):
        row = line["row"]
        expectation = {"expr": row["expression"]}
        error = row.get("expectedCompileError") or row.get("expectedErr") or row.get("expectedError")
        if error:
            expectation["texts"] = [error]
        data.group(line["table"], "", {"patch": True, "admission": True}, {}, [expectation])
    return [data]


def request_of(attributes):
    kind = {k.lower(): v for k, v in attributes["kind"].items() if k != "$type"}
    resource = {k.lower(): v for k, v in attributes["resource"].items() if k != "$type"}
    kind = {k: kind.get(k, "") for k in ("group", "version", "kind")}
    resource = {k: resource.get(k, "") for k in ("group", "version", "resource")}
    request = {"uid": "", "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource,
               "operation": attributes["operation"], "userInfo": {}, "dryRun": attributes["dryRun"],
               "options": plain(attributes["operationOptions"])}
    for name, value in (("name", attributes["name"]), ("namespace", attributes["namespace"]),
                        ("subResource", attributes["subresource"]), ("requestSubResource", attributes["subresource"])):
        if value:
            request[name] = value
    return request


def policies(folder):
    data = Data("policy", ORIGIN % ("apiserver", "pkg/admission/plugin/cel"),
                "TestCondition, TestRuntimeCELCostBudget: expressions of policies over requests")
    for line in raw(folder, "admission_plugin_cel"):
        table, row = line["table"], line["row"]
        if table not in ("TestCondition", "TestRuntimeCELCostBudget") or row.get("enableSelectors") is False:
            continue
        attributes = row["attributes"]
        inputs = {"object": {"json": plain(attributes["object"])}, "oldObject": {"json": plain(attributes["oldObject"])},
                  "request": {"json": request_of(attributes)}, "params": {"json": plain(row.get("params"))},
                  "namespaceObject": {"json": plain(row.get("namespaceObject"))}}
        authorizer = row.get("authorizer")
        if authorizer and "match" in authorizer:
            continue  # An authorizer that looks at its question: tests of room admission.
        if authorizer:
            answer = authorizer["defaultResult"]
            decision = {"decision": {0: "deny", 1: "allow", 2: "no-opinion"}[answer.get("decision", 0)],
                        "reason": answer.get("reason", ""), "error": (answer.get("err") or {}).get("$error", "")}
            inputs["authorizer"] = {"authorizer": decision}
            inputs["authorizer.requestResource"] = {"request_resource": decision}
        env = {"admission": True, "authorizer": bool(authorizer) or table == "TestRuntimeCELCostBudget",
               "params": row.get("hasParamKind", False), "new": row.get("envType") != "StoredExpressions",
               "version": ".".join(map(str, row.get("compatibilityVersion", {"components": [1, 35]})["components"]))}
        results = row.get("results") or [{} for _ in row["validations"]]
        for validation, result in zip(row["validations"], results):
            expectation = {"expr": validation["Expression"]}
            if "testPerCallLimit" in row and row["testPerCallLimit"]:
                expectation["limit"] = row["testPerCallLimit"]
            if result.get("Error"):
                error = result["Error"]
                error = error.get("$error") or error.get("Detail", "")
                expectation["texts"] = [] if error in ("compilation error", "") else [re.sub("^expression .* resulted in error:? ?", "", error)]
            elif result.get("EvalResult"):
                expectation["value"] = result["EvalResult"]
            data.group(table, row["name"], env, inputs, [expectation])
    return [data]


WALKS = {"TestValidationExpressionsAtSchemaLevels", "TestMessageExpression", "TestReasonAndFldPath",
         "TestValidateFieldPath", "TestRatcheting", "TestOptionalOldSelf", "TestOptionalOldSelfCheckForNull",
         "TestOptionalOldSelfIsOptionalType"}
RAW = [("crd_walks", "apiextensions-apiserver", "apiserver_schema_cel", WALKS),
       ("names", "apiserver", "cel", None),
       ("correlation", "apiserver", "cel_common", {"TestCorrelation"}),
       ("policy_cases", "apiserver", "admission_plugin_cel", None),
       ("policy_validating", "apiserver", "admission_plugin_policy_validating", None),
       ("policy_matching", "apiserver", "admission_plugin_policy_matching", None),
       ("policy_patch", "apiserver", "admission_plugin_policy_mutating_patch", None),
       ("webhook_conditions", "apiserver", "admission_plugin_webhook_matchconditions", None),
       ("authorization", "apiserver", "authorization_cel", None),
       ("authentication", "apiserver", "authentication_cel", None),
       ("configuration", "apiserver", "apis_apiserver_validation", None)]


def write(folder, name, header, lines):
    with open(os.path.join(folder, name + ".jsonl"), "w") as out:
        for line in [header] + lines:
            out.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


def main():
    folder, target, oracle = sys.argv[1:]
    wrong = 0
    for data in crd(folder) + library(folder) + values(folder) + patch_types(folder) + policies(folder):
        ask(oracle, data)
        count = 0
        for group in data.groups:
            for row in group["rows"]:
                count += 1
                for text in disagreements(row):
                    wrong += 1
                    print("%s/%s: %s: %s" % (group["table"], group["case"], row["expr"], text))
        write(target, data.name, data.header, data.groups)
        print("%-14s %4d expressions in %d groups" % (data.name, count, len(data.groups)))
    for name, module, package, tables in RAW:
        rows = [l for l in raw(folder, package) if tables is None or l["table"] in tables]
        path = "pkg/" + package.replace("_", "/")
        write(target, name, {"origin": ORIGIN % (module, path), "copyright": KUBERNETES, "license": "Apache-2.0",
                             "holds": "rows of tests as upstream has them: " + ", ".join(sorted({r["table"] for r in rows}))}, rows)
        print("%-20s %4d rows" % (name, len(rows)))
    sys.exit("%d disagreements with upstream's tables" % wrong if wrong else 0)


if __name__ == "__main__":
    main()
