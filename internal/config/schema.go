package config

import _ "embed"

// Schema is the JSON Schema of the configuration file. The tests make it from the
// structs and their comments: `go test ./internal/config -update` writes it here and
// to docs/config.schema.json.
//
//go:embed schema.json
var Schema string
