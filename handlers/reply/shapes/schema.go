package shapes

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed schemas/*.json
var files embed.FS

// Schema is the JSON Schema of the reply of a phase: understanding, information,
// assumption, planning, reflection, revision, replanning or verification. It is
// nil for every other phase. Bounds of length are not in it, since servers that
// make grammars of schemas refuse large ones.
func Schema(phase string) json.RawMessage {
	data, err := files.ReadFile("schemas/" + phase + ".json")
	if err != nil {
		return nil
	}
	return data
}

// compiled are the schemas, each compiled at its first use.
var compiled = map[string]func() *jsonschema.Schema{
	"understanding": compile("understanding"),
	"information":   compile("information"),
	"assumption":    compile("assumption"),
	"planning":      compile("planning"),
	"reflection":    compile("reflection"),
	"revision":      compile("revision"),
	"replanning":    compile("replanning"),
	"verification":  compile("verification"),
}

func compile(phase string) func() *jsonschema.Schema {
	return sync.OnceValue(func() *jsonschema.Schema {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema(phase)))
		if err != nil {
			panic(fmt.Sprintf("shapes: schema of %s: %v", phase, err))
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource(phase+".json", doc); err != nil {
			panic(fmt.Sprintf("shapes: schema of %s: %v", phase, err))
		}
		return c.MustCompile(phase + ".json")
	})
}

// check says what in a reply, as it was understood, does not fit the schema of its phase.
func check(phase string, reply any) string {
	data, err := json.Marshal(reply)
	if err != nil {
		return "Your reply cannot be written as JSON again. Reply with exactly one JSON object."
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return "Your reply cannot be read as JSON again. Reply with exactly one JSON object."
	}
	if err := compiled[phase]().Validate(value); err != nil {
		return fmt.Sprintf("Your reply does not have the form that was asked for, at %q.", place(err))
	}
	return ""
}

// place is the path of the first value that does not fit.
func place(err error) string {
	v, ok := err.(*jsonschema.ValidationError)
	for ok && len(v.Causes) > 0 {
		v = v.Causes[0]
	}
	if !ok {
		return ""
	}
	return strings.Join(v.InstanceLocation, ".")
}
