package workspace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// otherNames are names that other tools have for our arguments: models were trained
// on those. Each is taken for the first argument here that the tool has.
var otherNames = map[string][]string{
	"file_path": {"path"}, "filepath": {"path"}, "file": {"path"}, "filename": {"path"}, "file_name": {"path"}, "target_file": {"path"},
	"absolute_path": {"path"}, "relative_path": {"path"}, "source": {"path"}, "from": {"path"}, "directory": {"path", "cwd"}, "dir": {"path", "cwd"}, "dir_path": {"path", "cwd"},
	"destination": {"to"}, "new_path": {"to"}, "target": {"to", "path"}, "dest": {"to"}, "new_name": {"to"},
	"old_string": {"old_text"}, "old_str": {"old_text"}, "oldstring": {"old_text"}, "oldtext": {"old_text"}, "old": {"old_text"}, "find": {"old_text"}, "search": {"old_text", "pattern"},
	"new_string": {"new_text"}, "new_str": {"new_text"}, "newstring": {"new_text"}, "newtext": {"new_text"}, "new": {"new_text"}, "replace": {"new_text"}, "replacement": {"new_text"},
	"replaceall": {"replace_all"}, "all": {"replace_all"},
	"contents": {"content"}, "file_text": {"content"}, "file_content": {"content"}, "text": {"content", "pattern"},
	"query": {"pattern"}, "regex": {"pattern"}, "regexp": {"pattern"}, "include": {"glob"}, "file_pattern": {"glob"}, "pattern": {"glob"},
	"-i": {"ignore_case"}, "case_insensitive": {"ignore_case"}, "-w": {"word"}, "-c": {"context"}, "head_limit": {"limit"}, "max_results": {"limit"},
	"cmd": {"command"}, "script": {"command"}, "shell_command": {"command"}, "args": {"argv"},
	"workdir": {"cwd"}, "working_directory": {"cwd"}, "timeout": {"timeout_seconds"}, "timeout_ms": {"timeout_seconds"}, "run_in_background": {"background"},
	"offset": {"start_line"}, "line_start": {"start_line"}, "from_line": {"start_line"}, "start": {"start_line"}, "line_end": {"end_line"}, "to_line": {"end_line"}, "end": {"end_line"},
	"input": {"patch"}, "diff": {"patch"}, "patch_text": {"patch"}, "commit": {"rev"}, "ref": {"rev"}, "revision": {"rev"}, "msg": {"message"}, "job": {"id"}, "job_id": {"id"}, "bash_id": {"id"},
}

// decode reads a tool's arguments. Unknown ones are refused, since a misspelt option
// would be ignored without a word.
func decode[A any](raw json.RawMessage) (A, error) {
	var args A
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	raw, err := withOurNames(raw, names(reflect.TypeFor[A]()))
	if err != nil {
		return args, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err = d.Decode(&args)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return args, nil
	case errors.As(err, &wrong) && wrong.Field != "":
		return args, fmt.Errorf("argument %s must not be a %s; see the tool's schema", wrong.Field, wrong.Value)
	case errors.As(err, &wrong):
		return args, errors.New("the arguments are not a JSON object")
	default:
		return args, fmt.Errorf("arguments: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
}

// names are the arguments of a tool.
func names(t reflect.Type) (all []string) {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		all = append(all, name)
	}
	return all
}

// withOurNames gives arguments the names that the tool has for them.
func withOurNames(raw json.RawMessage, ours []string) (json.RawMessage, error) {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		return raw, nil // said where it is decoded
	}
	changed := false
	for name, value := range given {
		if slices.Contains(ours, name) {
			continue
		}
		other := slices.IndexFunc(otherNames[strings.ToLower(name)], func(our string) bool { return slices.Contains(ours, our) && given[our] == nil })
		if other < 0 {
			return nil, unknownArgument(name, ours)
		}
		our := otherNames[strings.ToLower(name)][other]
		delete(given, name)
		given[our], changed = value, true
	}
	if edits, ok := given["edits"]; ok {
		given["edits"], changed = listOfEdits(edits), true
	}
	if !changed {
		return raw, nil
	}
	return json.Marshal(given)
}

// listOfEdits gives the arguments of each edit our names, as far as they are known.
func listOfEdits(raw json.RawMessage) json.RawMessage {
	var edits []json.RawMessage
	if json.Unmarshal(raw, &edits) != nil {
		return raw
	}
	for i, edit := range edits {
		if named, err := withOurNames(edit, names(reflect.TypeFor[replacement]())); err == nil {
			edits[i] = named
		}
	}
	out, err := json.Marshal(edits)
	if err != nil {
		return raw
	}
	return out
}

func unknownArgument(name string, ours []string) error {
	if len(ours) == 0 {
		return fmt.Errorf("unknown argument %q: the tool takes none", name)
	}
	return fmt.Errorf("unknown argument %q: the tool takes %s", name, strings.Join(ours, ", "))
}

// required reports the first of the named arguments that is missing.
func required(values map[string]*string) error {
	for _, name := range []string{"path", "to", "content", "old_text", "new_text", "pattern", "patch", "id"} {
		if value, ok := values[name]; ok && value == nil {
			return fmt.Errorf("argument %s is missing", name)
		}
	}
	return nil
}
