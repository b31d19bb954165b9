package event

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

var sampleTime = time.Date(2026, 11, 27, 20, 41, 48, 123456000, time.UTC)

// sample makes a body of a kind with every field filled, so that nothing is
// dropped by omitempty. The same kind gives the same sample.
func sample(kind string) Body {
	b := New(kind)
	fill(reflect.ValueOf(b).Elem(), kind)
	return b
}

// fill sets a value from its path, e.g. "llm.replied.Calls.0.ID".
func fill(v reflect.Value, path string) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(sampleTime))
		return
	case json.RawMessage:
		v.Set(reflect.ValueOf(json.RawMessage(`{"a":[1,"<b>"],"c":null}`)))
		return
	case Text:
		v.Set(reflect.ValueOf(sampleText(path)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("<" + path + "> & 例")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(len(path)))
	case reflect.Uint64:
		v.SetUint(uint64(len(path)))
	case reflect.Float64:
		v.SetFloat(float64(len(path)) + 0.25)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), fmt.Sprintf("%s.%d", path, i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fill(v.Field(i), path+"."+f.Name)
			}
		}
	default:
		panic("no sample for " + path)
	}
}

// sampleText is spilled for every second path.
func sampleText(path string) Text {
	if len(path)%2 == 0 {
		return T(path + "\n\"quoted\"\u2028")
	}
	return Text{Inline: "head of " + path, Blob: strings.Repeat("0f", 32), Size: 1 << 20, Tail: "尾"}
}
