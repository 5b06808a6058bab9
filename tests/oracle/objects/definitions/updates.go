package main

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
)

// Takes each definition of the grid that is refused as one that is stored all the same, and lets
// another take its place: the same, the same with another text, and the next that is refused.
func updates(rows []line) []line {
	refused := []line{}
	for _, row := range rows {
		object := definition(row.Schema)
		if object != nil && len(validation.ValidateCustomResourceDefinition(context.TODO(), object)) > 0 {
			refused = append(refused, row)
		}
	}
	changed := []line{}
	for i, row := range refused {
		with := dict{"title": "t"}
		for key, value := range row.Schema.(dict) {
			with[key] = value
		}
		next := refused[(i+1)%len(refused)]
		changed = append(changed, line{Name: "the same, " + row.Name, Old: row.Schema, Schema: row.Schema},
			line{Name: "with a title, " + row.Name, Old: row.Schema, Schema: with},
			line{Name: "another, " + next.Name + " for " + row.Name, Old: row.Schema, Schema: next.Schema})
	}
	return changed
}
