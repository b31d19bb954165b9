package rounds

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"agent/internal/app"
	"agent/internal/config"
)

// TestEveryPlanningKeyIsPinned changes each key of the planning mode and wants
// the pinned configuration to change, too: a key that decisions never see does nothing.
func TestEveryPlanningKeyIsPinned(t *testing.T) {
	want := (&Rounds{App: &app.App{Config: config.Default()}}).planning()
	if want.Comments != "task" {
		t.Errorf("comments default to %q, want one for the whole task", want.Comments)
	}
	keys := 0
	for _, path := range leaves(reflect.TypeFor[config.Planning](), nil) {
		keys++
		s := &Rounds{App: &app.App{Config: config.Default()}}
		field := reflect.ValueOf(&s.Config.Planning).Elem().FieldByIndex(path)
		change(t, s, field)
		if got := s.planning(); reflect.DeepEqual(got, want) {
			t.Errorf("%v changes nothing", reflect.TypeFor[config.Planning]().FieldByIndex(path).Tag)
		}
	}
	if keys < 30 {
		t.Errorf("only %d keys were found", keys)
	}
}

// leaves gives the index paths of all fields that are no structs.
func leaves(of reflect.Type, above []int) (paths [][]int) {
	for i := range of.NumField() {
		path := append(append([]int{}, above...), i)
		if inner := of.Field(i).Type; inner.Kind() == reflect.Struct {
			paths = append(paths, leaves(inner, path)...)
		} else {
			paths = append(paths, path)
		}
	}
	return paths
}

// change gives a field another value, and does what reading the configuration would then do.
func change(t *testing.T, s *Rounds, field reflect.Value) {
	t.Helper()
	switch field.Kind() {
	case reflect.Bool:
		field.SetBool(!field.Bool())
	case reflect.Int:
		field.SetInt(field.Int() + 1)
	case reflect.Float64:
		field.SetFloat(field.Float() + 0.01)
	default:
		field.SetString("call")
	}
	if s.Config.Planning.PromptsDir == "" {
		return
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "planning.txt"), []byte("Plan well."), 0o600))
	var err error
	s.PlanningPrompts, err = app.ReadPrompts(dir)
	must(t, err)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
