package workspace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// decode reads a tool's arguments; unknown ones are refused, since a misspelt
// option would be ignored without a word.
func decode[A any](raw json.RawMessage) (A, error) {
	var args A
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(&args)
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

// required reports the first of the named arguments that is missing.
func required(values map[string]*string) error {
	for _, name := range []string{"path", "content", "old_text", "new_text", "pattern"} {
		if value, ok := values[name]; ok && value == nil {
			return fmt.Errorf("argument %s is missing", name)
		}
	}
	return nil
}
