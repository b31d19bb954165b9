package config

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

const publicSchema = "../../docs/config.schema.json"

// object is a JSON object that keeps the order of its keys.
type object []member

type member struct {
	key   string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, _ := json.Marshal(m.key)
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// schemaOfSection describes the keys of a section. What people read of a key in
// docs/configuration.md stands in its description.
func schemaOfSection(section reflect.Value, path string, meanings map[string]string) object {
	properties := object{}
	for c := range children(section) {
		full := join(path, c.key)
		properties = append(properties, member{c.key, schemaOf(c, full, meanings)})
	}
	return object{{"type", "object"}, {"additionalProperties", false}, {"properties", properties}}
}

func schemaOf(c child, path string, meanings map[string]string) object {
	s := schemaOfValue(c, path, meanings)
	if meaning := meanings[general(path)]; meaning != "" {
		s = append(object{{"description", meaning}}, s...)
	}
	if text, ok := c.tag.Lookup("default"); ok {
		s = append(s, member{"default", plainDefault(c.value, text)})
	}
	return s
}

func plainDefault(v reflect.Value, text string) any {
	switch v.Kind() {
	case reflect.Bool:
		return text == "true"
	case reflect.Int, reflect.Float64:
		f, _ := strconv.ParseFloat(text, 64)
		return f
	case reflect.Slice:
		return strings.Fields(text)
	}
	return text
}

// words allows one of some words, or a variable in its place.
func words(allowed []string) object {
	return object{{"anyOf", []object{{{"enum", allowed}}, {{"type", "string"}, {"pattern", `\$\{`}}}}}
}

func schemaOfValue(c child, path string, meanings map[string]string) object {
	item := object{{"type", []string{"string", "integer"}}} // a number is taken as it is written
	if allowed := oneOf(c.tag); allowed != nil {
		item = words(allowed)
	}
	v := c.value
	switch v.Kind() {
	case reflect.Bool:
		return object{{"type", "boolean"}}
	case reflect.Int:
		return bounds(object{{"type", "integer"}}, c.tag)
	case reflect.Float64:
		return bounds(object{{"type", "number"}}, c.tag)
	case reflect.String:
		return item
	case reflect.Struct:
		return schemaOfSection(v, path, meanings)
	case reflect.Map:
		return object{{"type", "object"}, {"additionalProperties", schemaOfEntry(v.Type().Elem(), join(path, "*"), meanings)}}
	}
	switch elem := v.Type().Elem(); {
	case v.Type() == reflect.TypeFor[Forges]():
		one := schemaOfSection(v.Index(0), path, meanings)
		return object{{"anyOf", []object{one, {{"type", "array"}, {"items", one}}}}}
	case v.Type() == reflect.TypeFor[Strings]():
		return object{{"anyOf", []object{item, {{"type", "array"}, {"items", item}}}}}
	case elem.Kind() == reflect.Struct:
		return object{{"type", "array"}, {"items", schemaOfEntry(elem, path+"[]", meanings)}}
	}
	return object{{"type", "array"}, {"items", item}}
}

func schemaOfEntry(t reflect.Type, path string, meanings map[string]string) object {
	switch t.Kind() {
	case reflect.Struct:
		return schemaOfSection(reflect.New(t).Elem(), path, meanings)
	case reflect.Slice:
		return object{{"type", "array"}, {"items", schemaOfEntry(t.Elem(), path, meanings)}}
	}
	return object{{"type", []string{"string", "integer"}}}
}

func bounds(s object, tag reflect.StructTag) object {
	least, _ := strconv.ParseFloat(tag.Get("min"), 64)
	s = append(s, member{"minimum", least})
	if most, err := strconv.ParseFloat(tag.Get("max"), 64); err == nil {
		s = append(s, member{"maximum", most})
	}
	return s
}

func makeSchema(t *testing.T) []byte {
	c := Default()
	c.fillForges(func(string) bool { return true })
	s := object{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Configuration of agent"}}
	s = append(s, schemaOfSection(reflect.ValueOf(c).Elem(), "", fieldComments(t))...)
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// The schema fits the structs, here and in docs.
func TestSchemaIsUpToDate(t *testing.T) {
	want := makeSchema(t)
	for _, name := range []string{"schema.json", publicSchema} {
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if have, err := os.ReadFile(name); err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s does not fit the keys: run go test ./internal/config -update (%v)", name, err)
		}
	}
}

// What the program takes the schema takes, and what the schema refuses the program refuses.
func TestSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(makeSchema(t)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	validate := func(text string) error {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	for _, name := range []string{page, models} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
			if err := validate(block[1]); err != nil {
				t.Errorf("the schema refuses an example of %s: %v\n%s", name, err, block[1])
			}
		}
	}
	for _, bad := range []string{
		"worker: 2", "workers: many", "workers: 0", "workers: 1000", "language: de", "llm: {provider: nobody}", "llm: {openai: {urls: x}}",
		"github: {bot_label: [a]}", "github: [{labels: x}]", "mcp_servers: [{name: x}]", "mcp_servers: {}", "limits: 5", "planning: {enabled: 3}",
		"llm: {prices: {m: {inputs: 1}}}", "task_source: [gitlob]",
	} {
		if validate(bad) == nil {
			t.Errorf("the schema takes %s", bad)
		}
		if _, _, err := load(t, bad, nil, Offline()); err == nil {
			t.Errorf("the program takes %s", bad)
		}
	}
	for _, good := range []string{
		"task_source: github\ngithub: {repositories: [a/b]}", "task_source: [gitlab]\ngitlab: [{projects: [g/p]}]", `llm: {openai: {model: "${M}"}}`, "language: ja",
		"llm: {prices: {m: {input: 1.5}}}", "mcp_servers: [{mcp_server_name: a, command: [b], env: {PORT: 8080}}]",
	} {
		if err := validate(good); err != nil {
			t.Errorf("the schema refuses %s: %v", good, err)
		}
	}
}

// Every value says where it comes from, and no secret is among them.
func TestEffective(t *testing.T) {
	const secret = "hunter2-hunter2"
	c, _, err := load(t, `
llm: {provider: openai, openai: {api_key: "${KEY}", model: m}, timeout_seconds: 60}
github: {personal_access_token: `+secret+`, repositories: [a/b]}
mcp_servers: [{mcp_server_name: x, url: "https://x.example", headers: {Authorization: "Bearer `+secret+`", Accept: "`+secret+`"}}]
notify: [{slack: "https://hooks.example/`+secret+`"}]
`, map[string]string{"KEY": secret, "LLM_PROVIDER": "openai", "OPENAI_MODEL": "other", "DEBUG": "0"}, Override(func(c *Config) { c.ContextsDir = "/tmp/x" }))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Setting{}
	for _, s := range c.Effective() {
		got[s.Key] = s
		if data, _ := json.Marshal(s); strings.Contains(string(data)+s.Text(), secret) {
			t.Errorf("shown: %s", data)
		}
	}
	for key, want := range map[string]Setting{
		"workers":                           {Value: 2, Set: true, Source: "default"},
		"llm.timeout_seconds":               {Value: 60, Set: true, Source: "file", Line: 2},
		"llm.openai.model":                  {Value: "other", Set: true, Source: "environment", Env: "OPENAI_MODEL"},
		"llm.openai.api_key":                {Secret: true, Set: true, Source: "file", Line: 2},
		"github.personal_access_token":      {Secret: true, Set: true, Source: "file", Line: 3},
		"contexts_dir":                      {Value: "/tmp/x", Set: true, Source: "flag"},
		"log.level":                         {Value: "info", Set: true, Source: "default"},
		"mcp_servers.headers.Authorization": {Secret: true, Set: true, Source: "file", Line: 4},
	} {
		want.Key = key
		if !reflect.DeepEqual(got[key], want) {
			t.Errorf("%+v\nwant %+v", got[key], want)
		}
	}
	for _, unused := range []string{"gitlab.api_url", "llm.ollama.model"} {
		if _, there := got[unused]; there {
			t.Errorf("%s is not in use", unused)
		}
	}
}
